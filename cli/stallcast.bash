# Completions of stallcast for bash: the program itself knows what may come next.

_stallcast()
{
    local -a words=()
    local word breaks='' kept joins=''

    # Readline takes key=value and FILE:ROW apart.
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if [[ ${#words[@]} -gt 0 && ( -n $joins || $word == [=:]* ) ]]; then
            words[${#words[@]}-1]+=$word
        else
            words+=("$word")
        fi
        joins=''
        [[ -n $word && $word != *[!=:]* ]] && joins=1
    done

    # It replaces what is behind the last of those characters only.
    [[ $COMP_WORDBREAKS == *=* ]] && breaks+='='
    [[ $COMP_WORDBREAKS == *:* ]] && breaks+=':'
    kept=${words[${#words[@]}-1]}
    [[ -n $breaks ]] && kept=${kept%"${kept##*["$breaks"]}"} || kept=''

    COMPREPLY=()
    while IFS=$'\t' read -r word _; do
        if [[ $word == :files ]]; then
            compopt -o default 2>/dev/null
            continue
        fi
        COMPREPLY+=("${word#"$kept"}")
    done < <("${COMP_WORDS[0]/#\~\//$HOME/}" --complete "${words[@]}" 2>/dev/null)
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
    return 0
}

complete -o nosort -F _stallcast stallcast
