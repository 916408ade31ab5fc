# Completes each line of stdin as bash does at a key press, and prints what it offers.
# $1: the completion script
source "$1"
while IFS= read -r line; do
  # As readline cuts words: at = too.
  words=${line//=/ = }
  read -r -a COMP_WORDS <<<"$words"
  if [[ $words == *' ' ]]; then COMP_WORDS+=(''); fi
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _foley
  echo "$line => ${COMPREPLY[*]}"
done
