#compdef stallcast
# Completions of stallcast for zsh: the program itself knows what may come next.

_stallcast() {
    local line word help files
    local -a open whole

    for line in "${(@f)$("${(Q)words[1]/#\~\//$HOME/}" --complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
        word=${line%%$'\t'*}
        help=
        [[ $line == *$'\t'* ]] && help=${line#*$'\t'}
        if [[ $word == :files ]]; then
            files=1
        elif [[ $word == *= ]]; then
            open+=("${word//:/\\:}${help:+:$help}")
        elif [[ -n $word ]]; then
            whole+=("${word//:/\\:}${help:+:$help}")
        fi
    done
    (( $#open )) && _describe -V key open -S ''
    (( $#whole )) && _describe -V word whole
    if [[ -n $files ]]; then
        compset -P '*[=,]'
        _files
    fi
}

_stallcast "$@"
