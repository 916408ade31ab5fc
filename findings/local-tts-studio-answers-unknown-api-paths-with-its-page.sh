#!/usr/bin/env bash
# One would guess: a server that implements OpenAI's speech API answers 404 with JSON to a path below /v1 that it lacks, so
# that a client may ask for a list of voices, which OpenAI has not, and see that there is none.
# local-tts-studio 1.0.0: every GET of an unknown path, also below /v1, is answered 200 with the start page of its web
# interface, whatever `Accept` says; a POST to the same path is 405 with JSON. The paths of its own API do the same.
# It matters to foley: `foley engine add --url` looks for lists of voices at usual paths. It has to look at what arrives,
# not at the status, and to say that a page came.
set -euo pipefail
folder="$(mktemp -d)"
trap 'kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
export HOME="$folder" LOCAL_TTS_DATA_DIR="$folder/data"
python3 -m venv env
env/bin/pip install --quiet local-tts-studio==1.0.0 fastapi==0.165.0 starlette==1.10.0 uvicorn==0.54.0
port="$(env/bin/python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
env/bin/local-tts --port "$port" >server.log 2>&1 &
server=$!
ask() {
  curl -s -o body -w '%{http_code} %{content_type}' "$@"
}
for _ in $(seq 60); do ask "http://127.0.0.1:$port/v1/models" >answer && break || sleep 1; done
cat answer && grep -q '200 application/json' answer
for path in v1/audio/voices v1/voices api/nothing; do
  ask -H 'Accept: application/json' "http://127.0.0.1:$port/$path" | tee answer
  echo ": $path"
  grep -q '200 text/html' answer && grep -qi '<!doctype html>' body
done
ask -X POST "http://127.0.0.1:$port/v1/audio/voices" | tee answer
grep -q '^405 application/json' answer
