# fish completion for foley. Written by `npm run generate`; changes here are lost.

# The commands that were typed so far, without flags and their values.
function __foley_path
    set -l words (commandline -opc)
    set -l path
    set -l skip no
    for word in $words[2..-1]
        if test $skip = yes
            set skip no
        else if contains -- $word #{flags with value}
            set skip yes
        else if not string match -q -- '-*' $word
            set -l candidate (string join ' ' $path $word)
            contains -- $candidate #{paths}
            and set -a path $word
        end
    end
    string join ' ' $path
end

function __foley_at
    set -l path (__foley_path)
    test "$path" = "$argv"
end

# The names of one kind that foley remembers, each with what it is; it asks no service.
function __foley_known
    command foley completion names $argv 2>/dev/null
end

complete -c foley -f
#{completions}
