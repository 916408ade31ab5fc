# Types each line of stdin into a zsh of its own, presses the completion key, and prints what the line is then.
# $1: the folder of the completion script
zmodload zsh/zpty
zpty child zsh -f -i
type() { zpty -n -w child "$1" }
wait_for() {
  local line
  while zpty -r child line; do
    if [[ $line == *$1* ]]; then print -r -- "$line"; return; fi
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
done
zpty -d child
