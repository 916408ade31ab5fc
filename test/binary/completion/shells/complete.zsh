# Types each line of stdin into a zsh of its own, presses the completion key, and prints what the line is then.
# $1: the folder of the completion script
exec 3<&0
if [[ $OSTYPE == linux* ]]; then coproc script -q -c 'zsh -f -i' /dev/null
else coproc script -q /dev/null zsh -f -i; fi
type() { print -rnp -- "$1" }
wait_for() {
  local line
  while read -rp line; do
    if [[ $line == *$1* ]]; then print -r -- "${line%$'\r'}"; return; fi
  done
}
type "fpath=(${(q)1} \$fpath)"$'\n'
type $'autoload -Uz compinit; compinit -u -D; setopt no_beep\n'
type $'show() { print -r -- "LINE<$BUFFER>" }; zle -N show; bindkey "^T" show\n'
type $'print REA""DY\n'
wait_for READY >/dev/null
while IFS= read -r line; do
  # No other key begins with this one, for which zsh would wait.
  type "$line"$'\t\x14'
  shown=$(wait_for 'LINE<')
  shown=${shown##*LINE<}
  print -r -- "$line => ${shown%>*}"
  type $'\x15'
done <&3
type $'\nexit\n'
