# Completes each line of stdin as fish does at a key press, and prints what it offers.
# $argv[1]: the completion script
source $argv[1]
while read -l line
    echo "$line => "(complete -C "$line" | string replace -r '\t.*' '')
end
