# Completions of stallcast for fish: the program itself knows what may come next.

function __stallcast_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
    set -e words[1]
    for line in ($program --complete $words "$current" 2>/dev/null)
        if test "$line" = :files
            set -l kept (string match -r '^.*[=,]' -- "$current")
            for path in (__fish_complete_path (string replace -r '^.*[=,]' '' -- "$current"))
                echo "$kept$path"
            end
        else
            echo $line
        end
    end
end

complete -c stallcast -f -a '(__stallcast_complete)'
