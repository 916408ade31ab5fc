# bash completion for foley.
#
# `foley __complete` prints a line for each candidate: the word, a tab, a description. A line without a tab is
# `files` or `folders`. It asks no service, and nothing that it prints is evaluated: words are compared and quoted.

_foley() {
  local -a words=()
  local word line current prefix='' is_value=''
  COMPREPLY=()
  # bash cuts --flag=value in three.
  for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ $word == = && ${#words[@]} -gt 0 && ${words[${#words[@]} - 1]} == --* ]]; then
      words[${#words[@]} - 1]+==
      is_value=yes
    elif [[ -n $is_value ]]; then
      words[${#words[@]} - 1]+=$word
      is_value=''
    else
      words[${#words[@]}]=$word
    fi
  done
  current=${words[${#words[@]} - 1]}
  if [[ $current == --*=* ]]; then prefix=${current%%=*}=; fi
  while IFS= read -r line; do
    case $line in
      *$'\t'*)
        word=${line%%$'\t'*}
        if [[ -n $word && $word == "$current"* ]]; then
          printf -v word '%q' "${word#"$prefix"}"
          COMPREPLY[${#COMPREPLY[@]}]=$word
        fi
        ;;
      files | folders)
        compopt -o filenames 2>/dev/null
        while IFS= read -r word; do
          COMPREPLY[${#COMPREPLY[@]}]=$word
        done < <(
          if [[ $line == files ]]; then compgen -f -- "${current#"$prefix"}"
          else compgen -d -- "${current#"$prefix"}"; fi
        )
        ;;
    esac
  done < <(command foley __complete "${words[@]}" 2>/dev/null)
}

complete -o bashdefault -F _foley foley
