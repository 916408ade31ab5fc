# bash completion for foley. Written by `npm run generate`; changes here are lost.
#
# Nothing that a service said is ever evaluated: names are read line by line, compared, and quoted.

# What can follow a path of commands: first commands, then flags.
_foley_words() {
  case $1 in
#{words}
  esac
}

# Where the value of a flag comes from, by path and flag.
_foley_flag_source() {
  case $1:$2 in
#{flag sources}
  esac
}

# Where the arguments of a command come from.
_foley_argument_source() {
  case $1 in
#{argument sources}
  esac
}

_foley_takes_value() {
  case $1 in
#{flags with value}
  esac
  return 1
}

# Offers the names of one kind that foley remembers; it asks no service.
_foley_known() {
  local line name
  while IFS= read -r line; do
    name=${line%%$'\t'*}
    if [[ -n $name && $name == "$2"* ]]; then
      COMPREPLY[${#COMPREPLY[@]}]=$(printf '%q' "$name")
    fi
  done < <(command foley completion names "$1" 2>/dev/null)
}

# Offers from one source, as the functions above name it.
_foley_offer() {
  local kind=${1%% *} rest=${1#* } line
  case $kind in
    words)
      while IFS= read -r line; do
        COMPREPLY[${#COMPREPLY[@]}]=$line
      done < <(compgen -W "$rest" -- "$2")
      ;;
    known) _foley_known "$rest" "$2" ;;
    files | folders)
      compopt -o filenames 2>/dev/null
      if [[ $kind == files ]]; then kind=-f; else kind=-d; fi
      while IFS= read -r line; do
        COMPREPLY[${#COMPREPLY[@]}]=$line
      done < <(compgen "$kind" -- "$2")
      ;;
  esac
}

_foley() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local path='' word candidate words i=1 only_arguments=''
  COMPREPLY=()
  while ((i < COMP_CWORD)); do
    word=${COMP_WORDS[i]}
    if [[ $word == -- ]]; then
      only_arguments=yes
      break
    elif _foley_takes_value "$word"; then
      if [[ ${COMP_WORDS[i + 1]} == = ]]; then ((i += 1)); fi
      ((i += 1))
    elif [[ $word != -* ]]; then
      candidate=${path:+$path }$word
      if [[ -n $(_foley_words "$candidate") ]]; then path=$candidate; fi
    fi
    ((i += 1))
  done
  # bash cuts --flag=value in three.
  if [[ $current == = ]]; then
    current=''
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if [[ -n $only_arguments ]]; then
    _foley_offer "$(_foley_argument_source "$path")" "$current"
  elif _foley_takes_value "$before"; then
    _foley_offer "$(_foley_flag_source "$path" "$before")" "$current"
  elif [[ $current == -* ]]; then
    _foley_offer "words $(_foley_words "$path")" "$current"
  else
    _foley_offer "$(_foley_argument_source "$path")" "$current"
    # Flags are offered once they are begun.
    words=" $(_foley_words "$path")"
    _foley_offer "words ${words%% -*}" "$current"
  fi
}

complete -o bashdefault -F _foley foley
