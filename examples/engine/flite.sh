#!/bin/sh
# Debian's flite as an engine for foley (docs/engines.md):
#   foley engine add debian -- sh flite.sh
wav=$(mktemp) || exit 1
trap 'rm -f "$wav"' EXIT

field() { # a field of $line that is a number or a name
  printf '%s\n' "$line" | sed 's/.*"'"$1"'":"\{0,1\}\([a-z0-9.-]*\).*/\1/'
}

text() { # the text of $line, decoded from JSON; backslashes and control characters become spaces
  printf '%s\n' "$line" | sed -e 's/.*"text":"\(\([^"\\]\|\\.\)*\)".*/\1/' \
    -e 's/\\\\/ /g' -e 's/\\[bfnrt]/ /g' -e 's/\\u..../ /g' -e 's/\\"/"/g'
}

speak() { # id, text, voice, speed
  case $2 in *[[:alnum:]]*) ;; *) echo '{"type":"done","id":'"$1"'}'; return ;; esac
  stretch=$(awk "BEGIN { print 1 / $4 }")
  if ! flite -voice "$3" --setf duration_stretch="$stretch" -t "$2" -o "$wav" >&2; then
    echo '{"type":"error","id":'"$1"',"message":"flite failed"}'
    return
  fi
  size=$(wc -c < "$wav")
  at=44 # the header of a WAV file
  while [ "$at" -lt "$size" ]; do
    bytes=$((size - at < 16000 ? size - at : 16000)) # half a second
    echo '{"type":"audio","id":'"$1"',"bytes":'"$bytes"'}'
    tail -c +$((at + 1)) "$wav" | head -c "$bytes"
    at=$((at + bytes))
  done
  echo '{"type":"done","id":'"$1"'}'
}

while IFS= read -r line; do
  case $line in
  '{"type":"hello"'*)
    echo '{"type":"hello","protocol":1,"version":"1.0.0","license":"MIT","voices":[' \
      '{"id":"rms","language":"en-US","sampleRate":16000},' \
      '{"id":"awb","language":"en-GB","sampleRate":16000}]}'
    ;;
  '{"type":"speak"'*) speak "$(field id)" "$(text)" "$(field voice)" "$(field speed)" ;;
  esac # audio that is cancelled has been made already, so that cancel needs nothing
done
