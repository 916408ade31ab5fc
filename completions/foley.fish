# fish completion for foley.
#
# `foley __complete` prints a line for each candidate: the word, a tab, a description. A line without a tab is
# `files` or `folders`. It asks no service, and nothing that it prints is evaluated.

function __foley_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l flag (string match -r -- '^--[^=]+=' $current)
    set -l value (string replace -r -- '^--[^=]+=' '' "$current")
    for line in (command foley __complete $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case files
                __fish_complete_path "$value" | string replace -r -- '^' "$flag"
            case folders
                __fish_complete_directories "$value" | string replace -r -- '^' "$flag"
            case '*'
                printf '%s\n' $line
        end
    end
end

complete -c foley -f -a '(__foley_complete)'
