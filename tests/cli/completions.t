#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What may come next on a command line: what the program says, and what bash, zsh and fish make
# of it with the scripts that come with it.

. "${0%/*}/lib.sh"

# next WORD...: the words that the last one may become, without what they mean.
next() {
    "$program" --complete "$@" | cut -f 1
}
list() {
    "$program" list "$@" -f csv --delimiter '|' | sed '1d;s/|.*//;s/"//g'
}

# ---- what the program says ----

"$program" --help | awk '/^commands:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }' >want
next '' | grep -vx help >got
ok 'commands' cmp want got
"$program" --help | sed -n 's/^  estimate  *//p' >want
"$program" --complete estim | cut -f 2 >got
ok 'and what they do' cmp want got
next help '' >got
"$program" --help | awk '/^commands:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }' >want
ok 'of help, too' cmp want got
list systems >systems
for command in $(cat want); do
    "$program" "$command" --help >help
    next "$command" - | sort >got
    sed -n '/^options:/,$s/^ *\(-., \)\{0,1\}\(--[a-z-]*\) .*/\2/p' help | sort >options
    ok "$command: its options" cmp options got
    case $(sed -n '1s/^usage: stallcast [a-z]* //p' help) in
    SYSTEM*)
        next "$command" '' >got
        ok "$command: systems" cmp systems got
        ;;
    FILE* | TRACE*) check_run "$command: files" 0 ':files' '' next "$command" '' ;;
    *) ok "$command: words to begin with" sh -c "'$program' --complete $command '' | grep -q ." ;;
    esac
    if grep -q '^  .*--format FORMAT' help; then
        check_run "$command: formats" 0 'json
jsonl' '' next "$command" hbf -f js
    fi
done
while read -r system; do
    list fields "$system" | sed 's/$/=/' >want
    next estimate "$system" '' >got
    ok "keys of $system" cmp want got
    list columns "$system" >columns
    list fields "$system" >>columns
    grep -vE '^slowdown_mean_(lo|hi)$' columns | sort >want
    next estimate "$system" --columns '' | sort >got
    ok "columns of $system" cmp want got
    "$program" list fields "$system" -f json >fields
    ok "values of the choices and presets of $system" perl -MJSON::PP -e '
        my ($program, $system) = @ARGV;
        local $/;
        open my $file, "<", "fields" or die;
        for my $field (@{decode_json(<$file>)}) {
            my ($key, $values) = @$field{qw(key values)};
            open my $pipe, "-|", $program, "--complete", "estimate", $system, "$key=" or die;
            my @got = map { /^$key=([^\t@]+)/ ? $1 : () } split /\n/, <$pipe>;
            my @want;
            if ($values =~ /^row of (.*)/) {
                my @rows = split /\n/, `"$program" list $1 -f csv`;
                @want = ((map { /^([^,]*)/ } @rows[1 .. $#rows]), "all");
            } elsif ($values =~ / \| /) {
                @want = (split(/ \| /, $values), "all");
            }
            die "$key: @got, not @want" if "@got" ne "@want";
        }' "$program" "$system"
done <systems

check_run 'a list goes on' 0 'policy=h3,slipstream
policy=h3,slipstream-no-order
policy=h3,slipstream-no-pacing
policy=h3,slipstream-fifo' '' next estimate hbf policy=h3,slip
check_run 'tags' 0 'model=@slipstream7
model=@slipstream-moe
:files' '' next estimate hbf model=@slip
check_run 'presets may be files' 0 'gpu=h100
:files' '' sh -c "'$program' --complete estimate hbf gpu=h10 | cut -f 1"
check_run 'no key twice, its aliases included' 0 '' '' next estimate hbf tp=4 tensor
check_run 'the word after an option that takes one' 0 ':files' '' next estimate hbf --from ''
check_run 'what an option is given is no word' 0 'hbf' '' next estimate -o x --digits 3 h
check_run 'attached to its option' 0 '--loss=squares' '' next fit uvm --loss=s
check_run 'names alone, where numbers are refused' 0 'model' '' next rank hbf --over mo
check_run 'and numbers alone, where names are' 0 'latency' '' next solve hbf --find laten
check_run 'no name there' 0 '' '' next solve hbf --find mod
check_run 'a range' 0 'latency=' '' next solve hbf --find latency --range laten
check_run 'what a condition begins with' 0 'slowdown
slowdown_lo
slowdown_hi' '' next solve hbf --until slow
# Each is taken by the option that it is offered for.
while read -r system; do
    for offer in 'sensitivity --metric' 'rank --by' 'solve --until'; do
        next ${offer% *} "$system" ${offer#* } '' >offered
        "$program" list columns "$system" -f json >columns.json
        perl -MJSON::PP -e 'local $/; open my $f, "<", "columns.json";
            my %words = map { $_ => 1 } qw(bound worth_fixing_first slowdown_mean_lo slowdown_mean_hi);
            print "$_->{column}\n" for grep { !$words{$_->{column}} } @{decode_json(<$f>)}' | sort >want
        sort offered >got
        ok "$offer: numbers of $system" cmp want got
    done
done <systems
check_run 'a list of columns' 0 'slowdown,buffer_area_m2
slowdown,buffer_node' '' sh -c "'$program' --complete estimate hbf -c slowdown,buffer_ | cut -f 1 | grep -v _s\$" 
check_run 'subjects of list' 0 'parameters
prefetch-kernels' '' sh -c "'$program' --complete list p | grep -v policies"
check_run 'and its system' 0 'hbf' '' next list fields h
check_run 'figures' 0 'hbf-buffer' '' next plot hbf-bu
check_run 'kinds of logs' 0 'ramulator2' '' next import ra
check_run 'then files' 0 ':files' '' next import ramulator2 a.log ''
check_run 'nothing for a system without keys on the command line' 0 '' '' next validate hbf buf
check_run 'nothing for no system' 0 '' '' next estimate hfb buf
check_run 'nothing for no command' 0 '' '' next estimat ''
check_run 'nothing to begin with' 0 "$(next '')" '' next
mkdir data
cp -r "$source_tree"/data/*.csv data/
printf '%s\n' 'name,sms' 'my-gpu,100' 'a100-sim,108' >data/gpus.csv
check_run 'tables of --data' 0 'gpu=my-gpu' '' sh -c "'$program' --complete estimate hbf --data data gpu=my | grep -v files"
check_run 'and of the environment' 0 'gpu=my-gpu' '' sh -c \
    "STALLCAST_DATA=data '$program' --complete estimate hbf gpu=my | grep -v files"

# ---- scripts ----

for shell in bash fish zsh; do
    "$program" completions $shell >script
    ok "completions $shell" cmp script "$source_tree/cli/stallcast.$shell"
    if command -v $shell >/dev/null; then
        ok "$shell takes it" $shell -n script
    else
        skip "no $shell"
    fi
done
check_run 'shells' 0 'bash
fish
zsh' '' next completions ''
refuses 'completions: expected a shell: completions bash' completions
refuses "completions: no script for 'bsh': did you mean bash?" completions bsh
refuses "completions: no script for 'tcsh': completions --help shows the shells" completions tcsh
check_run '-o' 0 '' '' stallcast completions bash -o script
ok 'writes it' cmp script "$source_tree/cli/stallcast.bash"
mkdir bin
ln -s "$program" bin/stallcast
PATH=$PWD/bin:$PATH
echo 1 >a-file.csv

# in_bash WORD...: the words as Readline takes them apart; what would replace the last of them.
in_bash() {
    bash --norc -c '
        . "$0"
        function=$(complete -p stallcast | sed "s/.* -F \([^ ]*\) .*/\1/")
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        "$function" stallcast "${@: -1}" "${@: -2:1}"
        printf "%s\n" "${COMPREPLY[@]}"' "$source_tree/cli/stallcast.bash" stallcast "$@"
}
if command -v bash >/dev/null; then
    check_run 'bash: a command' 0 'estimate' '' in_bash estim
    check_run 'bash: a key' 0 'policy=' '' in_bash estimate hbf poli
    check_run 'bash: the value behind its =' 0 'slipstream-no-order
slipstream-no-pacing' '' in_bash estimate hbf policy = slipstream-no
    next estimate hbf policy= | sed 's/policy=//' >want
    in_bash estimate hbf policy = >got
    ok 'bash: every value of a key' cmp want got
    in_bash estimate hbf policy = '' >got
    ok 'bash: and with an empty word' cmp want got
    check_run 'bash: a list' 0 'h3,cross-kernel' '' in_bash estimate hbf policy = h3,cross
    check_run 'bash: what is before the word does not matter' 0 'tensor_parallel=' '' \
        in_bash estimate hbf policy = h3 buffer = 8MB : 64MB : '*2' tens
    check_run 'bash: no = taken apart' 0 'policy=cross-kernel' '' \
        sh -c "$(cat <<'END'
bash --norc -c 'COMP_WORDBREAKS=" "; . "$0"; COMP_WORDS=(stallcast estimate hbf policy=cross); COMP_CWORD=3
    _stallcast; printf "%s\n" "${COMPREPLY[@]}"' "$0"
END
)" "$source_tree/cli/stallcast.bash"
else
    skip 'no bash'
fi

# in_zsh WORD...: with the functions of its completion system that the script calls.
in_zsh() {
    zsh -f -c '
        _describe() { local name=${@[(r)(open|whole)]}; print -rl -- "${(@P)name}" }
        _files() { print -- FILES }
        compset() { : }
        words=(stallcast "$@") CURRENT=$#words
        source "$0"' "$source_tree/cli/stallcast.zsh" "$@"
}
if command -v zsh >/dev/null; then
    check_run 'zsh: a key and its meaning' 0 \
        'policy=:who asks the flash for a page, when, and what the buffer keeps' '' in_zsh estimate hbf poli
    check_run 'zsh: values' 0 'policy=h3-demand-order' '' \
        sh -c 'cut -d : -f 1 "$0"' /dev/stdin <<END
$(in_zsh estimate hbf policy=h3-)
END
    check_run 'zsh: files' 0 'FILES' '' in_zsh estimate hbf --from ''
    check_run 'zsh: nothing' 0 '' '' in_zsh estimate nothing buf
else
    skip 'no zsh'
fi

in_fish() {
    HOME=$PWD fish --no-config -c 'source $argv[1]; complete -C $argv[2]' \
        "$source_tree/cli/stallcast.fish" "$1" | cut -f "${2:-1}"
}
if command -v fish >/dev/null; then
    check_run 'fish: a command' 0 'estimate' '' in_fish 'stallcast estim'
    check_run 'fish: what it means' 0 'staging SRAM, all stacks together' '' \
        sh -c 'head -n 1 "$0"' /dev/stdin <<END
$(in_fish 'stallcast estimate hbf buffer' 2)
END
    check_run 'fish: values' 0 'policy=h3-demand-order' '' in_fish 'stallcast estimate hbf policy=h3-'
    check_run 'fish: files' 0 'a-file.csv' '' in_fish 'stallcast estimate hbf --from a-f'
    check_run 'fish: files behind =' 0 'model=a-file.csv' '' in_fish 'stallcast estimate hbf model=a-f'
    check_run 'fish: no files elsewhere' 0 '' '' in_fish 'stallcast estimate a-f'
else
    skip 'no fish'
fi

# ---- what make removes ----

removed() {
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$source_tree" -n uninstall PREFIX=/usr DESTDIR=/stage |
        tr ' ' '\n' | tr -d "'" | grep -E 'bash|fish|zsh'
}
check_run 'uninstall takes the scripts away' 0 '/stage/usr/share/bash-completion/completions/stallcast
/stage/usr/share/fish/vendor_completions.d/stallcast.fish
/stage/usr/share/zsh/site-functions/_stallcast' '' removed

finish
