# bash completion for foley. Written by `npm run generate`; changes here are lost.
#
# Nothing that a service said is ever evaluated: names are read line by line, compared, and quoted.

# What can follow a path of commands: first commands, then flags.
_foley_words() {
  case $1 in
    '') echo 'tts jobs batch live voices design lipsync dub image video models profile captions inspect recover auth config api serve engine doctor completion help --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'tts') echo '--file -f --output -o --no-clobber --play --player --waveform --voice -v --voice-name --model -m --format --speed --volume --pitch --stability --similarity --language -l --emotion --instruction --text-normalization --no-text-normalization --filter-emoji --api --cache --via --split --idempotency-key --request-id --max-credits --credit-rate --dry-run --subtitles --timings --cue-max-chars --cue-max-lines --cue-max-duration --cue-min-duration --cue-by --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'jobs') echo 'create list get wait download --status --page --limit --all --created-after --api --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'jobs create') echo '--file -f --wait --output -o --no-clobber --timeout --poll-interval --voice -v --voice-name --model -m --format --speed --volume --pitch --stability --similarity --language -l --emotion --instruction --text-normalization --no-text-normalization --filter-emoji --api --idempotency-key --request-id --max-credits --credit-rate --dry-run --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'jobs list') echo '--status --page --limit --all --created-after --api --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'jobs get') echo '--api --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'jobs wait') echo '--output -o --timeout --poll-interval --api --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'jobs download') echo '--output -o --segment --api --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'batch') echo '--lines --jsonl --text-column --no-recursive --output-dir --name --shard --concurrency -j --subtitles --timings --max-credits --credit-rate --retry-failed --redo --redo-list --overwrite --idempotency-namespace --report --dry-run --voice -v --voice-name --model -m --format --speed --volume --pitch --stability --similarity --language -l --emotion --instruction --text-normalization --no-text-normalization --filter-emoji --cue-max-chars --cue-max-lines --cue-max-duration --cue-min-duration --cue-by --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'live') echo 'capabilities ticket status segment --file -f --output -o --no-clobber --play --player --voice -v --voice-name --model -m --format --speed --volume --stability --similarity --language -l --text-normalization --no-text-normalization --pitch --emotion --instruction --optimize-instructions --mode --protocol --segment-by --flush-after --chunk-length --latency --request-id --retry-failed --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'live capabilities') echo '--protocol --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'live ticket') echo '--origin --protocol --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'live status') echo '--protocol --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'live segment') echo '--output -o --protocol --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'voices') echo 'list get create clone delete preview --page --page-size --all --include-personal --type --language --supports-language --search --provider --api --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'voices list') echo '--page --page-size --all --include-personal --type --language --supports-language --search --provider --api --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'voices get') echo '--json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'voices create') echo '--description --reference-text --visibility --language --idempotency-key --request-id --dry-run --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'voices clone') echo '--description --reference-text --visibility --language --idempotency-key --request-id --dry-run --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'voices delete') echo '--yes --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'voices preview') echo '--text --output-dir --play --player --model -m --format --idempotency-key --request-id --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'design') echo 'create preview save --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'design create') echo '--preview-text --provider --output-dir --idempotency-key --request-id --dry-run --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'design preview') echo '--output -o --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'design save') echo '--name --visibility --language --idempotency-key --request-id --dry-run --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'lipsync') echo 'create list get wait download --status --page --limit --all --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'lipsync create') echo '--video --audio --extend --wait --output -o --no-clobber --timeout --poll-interval --idempotency-key --request-id --dry-run --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'lipsync list') echo '--status --page --limit --all --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'lipsync get') echo '--json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'lipsync wait') echo '--output -o --timeout --poll-interval --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'lipsync download') echo '--output -o --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'dub') echo 'create get wait download --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'dub create') echo '--file -f --video --voice -v --voice-name --model -m --speed --language -l --fit --wait --output -o --no-clobber --timeout --poll-interval --idempotency-key --request-id --dry-run --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'dub get') echo '--json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'dub wait') echo '--output -o --timeout --poll-interval --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'dub download') echo '--output -o --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'image') echo 'create models get wait download --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'image create') echo '--model -m --image --max-credits --aspect-ratio --resolution --preview --wait --output -o --no-clobber --timeout --poll-interval --idempotency-key --request-id --dry-run --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'image models') echo '--json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'image get') echo '--json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'image wait') echo '--output -o --timeout --poll-interval --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'image download') echo '--output -o --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'video') echo 'create models get wait download --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'video create') echo '--model -m --image --max-credits --seconds --size --wait --output -o --no-clobber --timeout --poll-interval --idempotency-key --request-id --dry-run --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'video models') echo '--json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'video get') echo '--json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'video wait') echo '--output -o --timeout --poll-interval --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'video download') echo '--output -o --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'models') echo 'list get --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'models list') echo '--json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'models get') echo '--json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'profile') echo 'get set --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'profile get') echo '--json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'profile set') echo '--webhook-url --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'captions') echo '--subtitles --cue-max-chars --cue-max-lines --cue-max-duration --cue-min-duration --cue-by --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'inspect') echo '--json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'recover') echo '--list --forget --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'auth') echo 'login logout status list --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'auth login') echo '--json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'auth logout') echo '--json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'auth status') echo '--check --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'auth list') echo '--json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'config') echo 'get set unset list path --show-origin --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'config get') echo '--json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'config set') echo '--json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'config unset') echo '--json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'config list') echo '--show-origin --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'config path') echo '--json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'api') echo '--field -F --raw-field -f --body --header -H --form --include --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'serve') echo '--host --port --data-dir --accept-keys-file --credits --rate-limit --max-waiting --unavailable --fault --allow-host --allow-origin --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'engine') echo 'add list remove --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'engine add') echo '--json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'engine list') echo '--json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'engine remove') echo '--json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'doctor') echo '--json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'completion') echo 'bash zsh fish powershell install --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'completion bash') echo '--json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'completion zsh') echo '--json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'completion fish') echo '--json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'completion powershell') echo '--json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'completion install') echo '--shell --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'help') echo 'exit-codes flags --json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'help exit-codes') echo '--json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
    'help flags') echo '--json --quiet -q --verbose --account --local --base-url --realtime-url --api-key-file --max-retries --response-timeout --idle-timeout --max-bytes --no-progress --color --no-input --version -V --help -h' ;;
  esac
}

# Where the value of a flag comes from, by path and flag.
_foley_flag_source() {
  case $1:$2 in
    ':--account') echo 'known account' ;;
    ':--api-key-file') echo 'files' ;;
    ':--color') echo 'words auto always never' ;;
    'tts:--file' | 'tts:-f') echo 'files' ;;
    'tts:--output' | 'tts:-o') echo 'files' ;;
    'tts:--voice' | 'tts:-v') echo 'known voice' ;;
    'tts:--voice-name') echo 'known voice-name' ;;
    'tts:--model' | 'tts:-m') echo 'known model' ;;
    'tts:--format') echo 'words mp3 wav ogg' ;;
    'tts:--api') echo 'words v3 v2 v1 compat-tts compat-speech' ;;
    'tts:--via') echo 'words auto sync job aligned' ;;
    'tts:--split') echo 'words auto never' ;;
    'tts:--subtitles') echo 'files' ;;
    'tts:--timings') echo 'files' ;;
    'tts:--cue-by') echo 'words phrase sentence word' ;;
    'tts:--account') echo 'known account' ;;
    'tts:--api-key-file') echo 'files' ;;
    'tts:--color') echo 'words auto always never' ;;
    'jobs:--api') echo 'words v3 v1' ;;
    'jobs:--account') echo 'known account' ;;
    'jobs:--api-key-file') echo 'files' ;;
    'jobs:--color') echo 'words auto always never' ;;
    'jobs create:--file' | 'jobs create:-f') echo 'files' ;;
    'jobs create:--output' | 'jobs create:-o') echo 'files' ;;
    'jobs create:--voice' | 'jobs create:-v') echo 'known voice' ;;
    'jobs create:--voice-name') echo 'known voice-name' ;;
    'jobs create:--model' | 'jobs create:-m') echo 'known model' ;;
    'jobs create:--format') echo 'words mp3 wav ogg' ;;
    'jobs create:--api') echo 'words v3 v1' ;;
    'jobs create:--account') echo 'known account' ;;
    'jobs create:--api-key-file') echo 'files' ;;
    'jobs create:--color') echo 'words auto always never' ;;
    'jobs list:--api') echo 'words v3 v1' ;;
    'jobs list:--account') echo 'known account' ;;
    'jobs list:--api-key-file') echo 'files' ;;
    'jobs list:--color') echo 'words auto always never' ;;
    'jobs get:--api') echo 'words v3 v1' ;;
    'jobs get:--account') echo 'known account' ;;
    'jobs get:--api-key-file') echo 'files' ;;
    'jobs get:--color') echo 'words auto always never' ;;
    'jobs wait:--output' | 'jobs wait:-o') echo 'files' ;;
    'jobs wait:--api') echo 'words v3 v1' ;;
    'jobs wait:--account') echo 'known account' ;;
    'jobs wait:--api-key-file') echo 'files' ;;
    'jobs wait:--color') echo 'words auto always never' ;;
    'jobs download:--output' | 'jobs download:-o') echo 'files' ;;
    'jobs download:--api') echo 'words v3 v1' ;;
    'jobs download:--account') echo 'known account' ;;
    'jobs download:--api-key-file') echo 'files' ;;
    'jobs download:--color') echo 'words auto always never' ;;
    'batch:--lines') echo 'files' ;;
    'batch:--jsonl') echo 'files' ;;
    'batch:--output-dir') echo 'folders' ;;
    'batch:--subtitles') echo 'words srt vtt' ;;
    'batch:--redo-list') echo 'files' ;;
    'batch:--report') echo 'files' ;;
    'batch:--voice' | 'batch:-v') echo 'known voice' ;;
    'batch:--voice-name') echo 'known voice-name' ;;
    'batch:--model' | 'batch:-m') echo 'known model' ;;
    'batch:--format') echo 'words mp3 wav ogg' ;;
    'batch:--cue-by') echo 'words phrase sentence word' ;;
    'batch:--account') echo 'known account' ;;
    'batch:--api-key-file') echo 'files' ;;
    'batch:--color') echo 'words auto always never' ;;
    'live:--file' | 'live:-f') echo 'files' ;;
    'live:--output' | 'live:-o') echo 'files' ;;
    'live:--voice' | 'live:-v') echo 'known voice' ;;
    'live:--voice-name') echo 'known voice-name' ;;
    'live:--model' | 'live:-m') echo 'known model' ;;
    'live:--mode') echo 'words simple reliable' ;;
    'live:--protocol') echo 'words v3 v2' ;;
    'live:--segment-by') echo 'words sentence line input' ;;
    'live:--account') echo 'known account' ;;
    'live:--api-key-file') echo 'files' ;;
    'live:--color') echo 'words auto always never' ;;
    'live capabilities:--protocol') echo 'words v3 v2' ;;
    'live capabilities:--account') echo 'known account' ;;
    'live capabilities:--api-key-file') echo 'files' ;;
    'live capabilities:--color') echo 'words auto always never' ;;
    'live ticket:--protocol') echo 'words v3 v2' ;;
    'live ticket:--account') echo 'known account' ;;
    'live ticket:--api-key-file') echo 'files' ;;
    'live ticket:--color') echo 'words auto always never' ;;
    'live status:--protocol') echo 'words v3 v2' ;;
    'live status:--account') echo 'known account' ;;
    'live status:--api-key-file') echo 'files' ;;
    'live status:--color') echo 'words auto always never' ;;
    'live segment:--output' | 'live segment:-o') echo 'files' ;;
    'live segment:--protocol') echo 'words v3 v2' ;;
    'live segment:--account') echo 'known account' ;;
    'live segment:--api-key-file') echo 'files' ;;
    'live segment:--color') echo 'words auto always never' ;;
    'voices:--type') echo 'words public personal all' ;;
    'voices:--api') echo 'words v3 v1 compat' ;;
    'voices:--account') echo 'known account' ;;
    'voices:--api-key-file') echo 'files' ;;
    'voices:--color') echo 'words auto always never' ;;
    'voices list:--type') echo 'words public personal all' ;;
    'voices list:--api') echo 'words v3 v1 compat' ;;
    'voices list:--account') echo 'known account' ;;
    'voices list:--api-key-file') echo 'files' ;;
    'voices list:--color') echo 'words auto always never' ;;
    'voices get:--account') echo 'known account' ;;
    'voices get:--api-key-file') echo 'files' ;;
    'voices get:--color') echo 'words auto always never' ;;
    'voices create:--visibility') echo 'words private public' ;;
    'voices create:--account') echo 'known account' ;;
    'voices create:--api-key-file') echo 'files' ;;
    'voices create:--color') echo 'words auto always never' ;;
    'voices clone:--visibility') echo 'words private public' ;;
    'voices clone:--account') echo 'known account' ;;
    'voices clone:--api-key-file') echo 'files' ;;
    'voices clone:--color') echo 'words auto always never' ;;
    'voices delete:--account') echo 'known account' ;;
    'voices delete:--api-key-file') echo 'files' ;;
    'voices delete:--color') echo 'words auto always never' ;;
    'voices preview:--output-dir') echo 'folders' ;;
    'voices preview:--model' | 'voices preview:-m') echo 'known model' ;;
    'voices preview:--format') echo 'words mp3 wav ogg' ;;
    'voices preview:--account') echo 'known account' ;;
    'voices preview:--api-key-file') echo 'files' ;;
    'voices preview:--color') echo 'words auto always never' ;;
    'design:--account') echo 'known account' ;;
    'design:--api-key-file') echo 'files' ;;
    'design:--color') echo 'words auto always never' ;;
    'design create:--output-dir') echo 'folders' ;;
    'design create:--account') echo 'known account' ;;
    'design create:--api-key-file') echo 'files' ;;
    'design create:--color') echo 'words auto always never' ;;
    'design preview:--output' | 'design preview:-o') echo 'files' ;;
    'design preview:--account') echo 'known account' ;;
    'design preview:--api-key-file') echo 'files' ;;
    'design preview:--color') echo 'words auto always never' ;;
    'design save:--visibility') echo 'words private public' ;;
    'design save:--account') echo 'known account' ;;
    'design save:--api-key-file') echo 'files' ;;
    'design save:--color') echo 'words auto always never' ;;
    'lipsync:--account') echo 'known account' ;;
    'lipsync:--api-key-file') echo 'files' ;;
    'lipsync:--color') echo 'words auto always never' ;;
    'lipsync create:--output' | 'lipsync create:-o') echo 'files' ;;
    'lipsync create:--account') echo 'known account' ;;
    'lipsync create:--api-key-file') echo 'files' ;;
    'lipsync create:--color') echo 'words auto always never' ;;
    'lipsync list:--account') echo 'known account' ;;
    'lipsync list:--api-key-file') echo 'files' ;;
    'lipsync list:--color') echo 'words auto always never' ;;
    'lipsync get:--account') echo 'known account' ;;
    'lipsync get:--api-key-file') echo 'files' ;;
    'lipsync get:--color') echo 'words auto always never' ;;
    'lipsync wait:--output' | 'lipsync wait:-o') echo 'files' ;;
    'lipsync wait:--account') echo 'known account' ;;
    'lipsync wait:--api-key-file') echo 'files' ;;
    'lipsync wait:--color') echo 'words auto always never' ;;
    'lipsync download:--output' | 'lipsync download:-o') echo 'files' ;;
    'lipsync download:--account') echo 'known account' ;;
    'lipsync download:--api-key-file') echo 'files' ;;
    'lipsync download:--color') echo 'words auto always never' ;;
    'dub:--account') echo 'known account' ;;
    'dub:--api-key-file') echo 'files' ;;
    'dub:--color') echo 'words auto always never' ;;
    'dub create:--file' | 'dub create:-f') echo 'files' ;;
    'dub create:--voice' | 'dub create:-v') echo 'known voice' ;;
    'dub create:--voice-name') echo 'known voice-name' ;;
    'dub create:--model' | 'dub create:-m') echo 'known model' ;;
    'dub create:--output' | 'dub create:-o') echo 'files' ;;
    'dub create:--account') echo 'known account' ;;
    'dub create:--api-key-file') echo 'files' ;;
    'dub create:--color') echo 'words auto always never' ;;
    'dub get:--account') echo 'known account' ;;
    'dub get:--api-key-file') echo 'files' ;;
    'dub get:--color') echo 'words auto always never' ;;
    'dub wait:--output' | 'dub wait:-o') echo 'files' ;;
    'dub wait:--account') echo 'known account' ;;
    'dub wait:--api-key-file') echo 'files' ;;
    'dub wait:--color') echo 'words auto always never' ;;
    'dub download:--output' | 'dub download:-o') echo 'files' ;;
    'dub download:--account') echo 'known account' ;;
    'dub download:--api-key-file') echo 'files' ;;
    'dub download:--color') echo 'words auto always never' ;;
    'image:--account') echo 'known account' ;;
    'image:--api-key-file') echo 'files' ;;
    'image:--color') echo 'words auto always never' ;;
    'image create:--model' | 'image create:-m') echo 'known model' ;;
    'image create:--resolution') echo 'words 1k 2k 4k' ;;
    'image create:--output' | 'image create:-o') echo 'files' ;;
    'image create:--account') echo 'known account' ;;
    'image create:--api-key-file') echo 'files' ;;
    'image create:--color') echo 'words auto always never' ;;
    'image models:--account') echo 'known account' ;;
    'image models:--api-key-file') echo 'files' ;;
    'image models:--color') echo 'words auto always never' ;;
    'image get:--account') echo 'known account' ;;
    'image get:--api-key-file') echo 'files' ;;
    'image get:--color') echo 'words auto always never' ;;
    'image wait:--output' | 'image wait:-o') echo 'files' ;;
    'image wait:--account') echo 'known account' ;;
    'image wait:--api-key-file') echo 'files' ;;
    'image wait:--color') echo 'words auto always never' ;;
    'image download:--output' | 'image download:-o') echo 'files' ;;
    'image download:--account') echo 'known account' ;;
    'image download:--api-key-file') echo 'files' ;;
    'image download:--color') echo 'words auto always never' ;;
    'video:--account') echo 'known account' ;;
    'video:--api-key-file') echo 'files' ;;
    'video:--color') echo 'words auto always never' ;;
    'video create:--model' | 'video create:-m') echo 'known model' ;;
    'video create:--output' | 'video create:-o') echo 'files' ;;
    'video create:--account') echo 'known account' ;;
    'video create:--api-key-file') echo 'files' ;;
    'video create:--color') echo 'words auto always never' ;;
    'video models:--account') echo 'known account' ;;
    'video models:--api-key-file') echo 'files' ;;
    'video models:--color') echo 'words auto always never' ;;
    'video get:--account') echo 'known account' ;;
    'video get:--api-key-file') echo 'files' ;;
    'video get:--color') echo 'words auto always never' ;;
    'video wait:--output' | 'video wait:-o') echo 'files' ;;
    'video wait:--account') echo 'known account' ;;
    'video wait:--api-key-file') echo 'files' ;;
    'video wait:--color') echo 'words auto always never' ;;
    'video download:--output' | 'video download:-o') echo 'files' ;;
    'video download:--account') echo 'known account' ;;
    'video download:--api-key-file') echo 'files' ;;
    'video download:--color') echo 'words auto always never' ;;
    'models:--account') echo 'known account' ;;
    'models:--api-key-file') echo 'files' ;;
    'models:--color') echo 'words auto always never' ;;
    'models list:--account') echo 'known account' ;;
    'models list:--api-key-file') echo 'files' ;;
    'models list:--color') echo 'words auto always never' ;;
    'models get:--account') echo 'known account' ;;
    'models get:--api-key-file') echo 'files' ;;
    'models get:--color') echo 'words auto always never' ;;
    'profile:--account') echo 'known account' ;;
    'profile:--api-key-file') echo 'files' ;;
    'profile:--color') echo 'words auto always never' ;;
    'profile get:--account') echo 'known account' ;;
    'profile get:--api-key-file') echo 'files' ;;
    'profile get:--color') echo 'words auto always never' ;;
    'profile set:--account') echo 'known account' ;;
    'profile set:--api-key-file') echo 'files' ;;
    'profile set:--color') echo 'words auto always never' ;;
    'captions:--subtitles') echo 'files' ;;
    'captions:--cue-by') echo 'words phrase sentence word' ;;
    'captions:--account') echo 'known account' ;;
    'captions:--api-key-file') echo 'files' ;;
    'captions:--color') echo 'words auto always never' ;;
    'inspect:--account') echo 'known account' ;;
    'inspect:--api-key-file') echo 'files' ;;
    'inspect:--color') echo 'words auto always never' ;;
    'recover:--account') echo 'known account' ;;
    'recover:--api-key-file') echo 'files' ;;
    'recover:--color') echo 'words auto always never' ;;
    'auth:--account') echo 'known account' ;;
    'auth:--api-key-file') echo 'files' ;;
    'auth:--color') echo 'words auto always never' ;;
    'auth login:--account') echo 'known account' ;;
    'auth login:--api-key-file') echo 'files' ;;
    'auth login:--color') echo 'words auto always never' ;;
    'auth logout:--account') echo 'known account' ;;
    'auth logout:--api-key-file') echo 'files' ;;
    'auth logout:--color') echo 'words auto always never' ;;
    'auth status:--account') echo 'known account' ;;
    'auth status:--api-key-file') echo 'files' ;;
    'auth status:--color') echo 'words auto always never' ;;
    'auth list:--account') echo 'known account' ;;
    'auth list:--api-key-file') echo 'files' ;;
    'auth list:--color') echo 'words auto always never' ;;
    'config:--account') echo 'known account' ;;
    'config:--api-key-file') echo 'files' ;;
    'config:--color') echo 'words auto always never' ;;
    'config get:--account') echo 'known account' ;;
    'config get:--api-key-file') echo 'files' ;;
    'config get:--color') echo 'words auto always never' ;;
    'config set:--account') echo 'known account' ;;
    'config set:--api-key-file') echo 'files' ;;
    'config set:--color') echo 'words auto always never' ;;
    'config unset:--account') echo 'known account' ;;
    'config unset:--api-key-file') echo 'files' ;;
    'config unset:--color') echo 'words auto always never' ;;
    'config list:--account') echo 'known account' ;;
    'config list:--api-key-file') echo 'files' ;;
    'config list:--color') echo 'words auto always never' ;;
    'config path:--account') echo 'known account' ;;
    'config path:--api-key-file') echo 'files' ;;
    'config path:--color') echo 'words auto always never' ;;
    'api:--body') echo 'files' ;;
    'api:--account') echo 'known account' ;;
    'api:--api-key-file') echo 'files' ;;
    'api:--color') echo 'words auto always never' ;;
    'serve:--data-dir') echo 'folders' ;;
    'serve:--accept-keys-file') echo 'files' ;;
    'serve:--account') echo 'known account' ;;
    'serve:--api-key-file') echo 'files' ;;
    'serve:--color') echo 'words auto always never' ;;
    'engine:--account') echo 'known account' ;;
    'engine:--api-key-file') echo 'files' ;;
    'engine:--color') echo 'words auto always never' ;;
    'engine add:--account') echo 'known account' ;;
    'engine add:--api-key-file') echo 'files' ;;
    'engine add:--color') echo 'words auto always never' ;;
    'engine list:--account') echo 'known account' ;;
    'engine list:--api-key-file') echo 'files' ;;
    'engine list:--color') echo 'words auto always never' ;;
    'engine remove:--account') echo 'known account' ;;
    'engine remove:--api-key-file') echo 'files' ;;
    'engine remove:--color') echo 'words auto always never' ;;
    'doctor:--account') echo 'known account' ;;
    'doctor:--api-key-file') echo 'files' ;;
    'doctor:--color') echo 'words auto always never' ;;
    'completion:--account') echo 'known account' ;;
    'completion:--api-key-file') echo 'files' ;;
    'completion:--color') echo 'words auto always never' ;;
    'completion bash:--account') echo 'known account' ;;
    'completion bash:--api-key-file') echo 'files' ;;
    'completion bash:--color') echo 'words auto always never' ;;
    'completion zsh:--account') echo 'known account' ;;
    'completion zsh:--api-key-file') echo 'files' ;;
    'completion zsh:--color') echo 'words auto always never' ;;
    'completion fish:--account') echo 'known account' ;;
    'completion fish:--api-key-file') echo 'files' ;;
    'completion fish:--color') echo 'words auto always never' ;;
    'completion powershell:--account') echo 'known account' ;;
    'completion powershell:--api-key-file') echo 'files' ;;
    'completion powershell:--color') echo 'words auto always never' ;;
    'completion install:--shell') echo 'words bash zsh fish powershell' ;;
    'completion install:--account') echo 'known account' ;;
    'completion install:--api-key-file') echo 'files' ;;
    'completion install:--color') echo 'words auto always never' ;;
    'help:--account') echo 'known account' ;;
    'help:--api-key-file') echo 'files' ;;
    'help:--color') echo 'words auto always never' ;;
    'help exit-codes:--account') echo 'known account' ;;
    'help exit-codes:--api-key-file') echo 'files' ;;
    'help exit-codes:--color') echo 'words auto always never' ;;
    'help flags:--account') echo 'known account' ;;
    'help flags:--api-key-file') echo 'files' ;;
    'help flags:--color') echo 'words auto always never' ;;
  esac
}

# Where the arguments of a command come from.
_foley_argument_source() {
  case $1 in
    'jobs get') echo 'known job' ;;
    'jobs wait') echo 'known job' ;;
    'jobs download') echo 'known job' ;;
    'batch') echo 'files' ;;
    'voices get') echo 'known voice' ;;
    'voices delete') echo 'known voice' ;;
    'voices preview') echo 'known voice' ;;
    'models get') echo 'known model' ;;
    'inspect') echo 'files' ;;
    'config get') echo 'known setting' ;;
    'config set') echo 'known setting' ;;
    'config unset') echo 'known setting' ;;
    'engine remove') echo 'known engine' ;;
  esac
}

_foley_takes_value() {
  case $1 in
    --accept-keys-file | --account | --allow-host | --allow-origin | --api | --api-key-file | --aspect-ratio | --audio | --base-url | --body | --chunk-length | --color | --concurrency | --created-after | --credit-rate | --credits | --cue-by | --cue-max-chars | --cue-max-duration | --cue-max-lines | --cue-min-duration | --data-dir | --description | --emotion | --fault | --field | --file | --flush-after | --forget | --format | --header | --host | --idempotency-key | --idempotency-namespace | --idle-timeout | --image | --instruction | --jsonl | --language | --latency | --limit | --lines | --max-bytes | --max-credits | --max-retries | --max-waiting | --mode | --model | --name | --origin | --output | --output-dir | --page | --page-size | --pitch | --player | --poll-interval | --port | --preview-text | --protocol | --provider | --rate-limit | --raw-field | --realtime-url | --redo | --redo-list | --reference-text | --report | --request-id | --resolution | --response-timeout | --search | --seconds | --segment | --segment-by | --shard | --shell | --similarity | --size | --speed | --split | --stability | --status | --subtitles | --supports-language | --text | --text-column | --timeout | --timings | --type | --unavailable | --via | --video | --visibility | --voice | --voice-name | --volume | --webhook-url | -F | -H | -f | -j | -l | -m | -o | -v) return 0 ;;
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
