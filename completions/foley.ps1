# PowerShell completion for foley. Written by `npm run generate`; changes here are lost.
#
# Nothing that a service said is ever evaluated: names are compared as text, and quoted.

$script:FoleyPlaces = @{
    '' = @{
        Commands = @(
            , @('tts', 'Speak text into a file, a pipe or a player')
            , @('jobs', 'Speech in the background: create, list, wait, download')
            , @('batch', 'Speak many texts, and go on where it was stopped')
            , @('live', 'Speak text while it is being written, in one conversation')
            , @('voices', 'List voices, hear them, make your own and delete them')
            , @('design', 'Describe a voice in words, hear candidates, keep one')
            , @('lipsync', 'Put a sound to a video, in time with the lips')
            , @('dub', 'Have a text spoken and put to a video')
            , @('image', 'Pictures of what is described')
            , @('video', 'Videos of what is described')
            , @('models', 'List and look up models, with their formats, limits and controls')
            , @('profile', 'Show or change the account: tier, credits, quota, webhook')
            , @('captions', 'Make subtitles of stored timings, without speaking again')
            , @('inspect', 'Tell how long, how loud and how still a file of sound is')
            , @('recover', 'Bring back what was paid for and did not arrive')
            , @('auth', 'Log in to a hosted service and look at the stored accounts')
            , @('config', 'Read and change settings')
            , @('api', 'Make any call of the interface')
            , @('serve', 'Run the embedded service for other programs')
            , @('engine', 'Give the embedded service other voices: espeak-ng, or an engine of your own')
            , @('doctor', 'Check that everything works, and say how to mend what does not')
            , @('completion', 'Let the shell complete commands, flags and names')
            , @('help', 'Show the help of a command, or a topic')
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'tts' = @{
        Commands = @(
        )
        Flags = @(
            , @('--file', 'read the text from a file; - is stdin')
            , @('-f', 'read the text from a file; - is stdin')
            , @('--output', 'write the audio to a file; - is stdout')
            , @('-o', 'write the audio to a file; - is stdout')
            , @('--no-clobber', 'do not replace an existing file (exit code 31)')
            , @('--play', 'play the audio; without -o no file is written')
            , @('--player', 'play with this program, which reads stdin')
            , @('--waveform', 'draw the sound of the file when it is there')
            , @('--voice', 'voice id')
            , @('-v', 'voice id')
            , @('--voice-name', 'voice by its exact name, whatever its case')
            , @('--model', 'model id (default: the voice’’s own)')
            , @('-m', 'model id (default: the voice’’s own)')
            , @('--format', 'mp3, wav, ogg; pcm on compat surfaces (default: the ending of --output, else mp3)')
            , @('--speed', 'speaking rate; 1 is the voice’’s own; 0.7 to 1.2 with altF, 0.5 to 2')
            , @('--volume', 'gain in decibels, -20 to 20')
            , @('--pitch', 'pitch shift in semitones, -12 to 12')
            , @('--stability', 'how even the delivery is; 0.5 to 1.5 with vendor, 0 to 1 with altF, 0 to 1.5')
            , @('--similarity', 'how close to the original voice; 0.5 to 1.5 with vendor, 0 to 1 with altF, 0 to 1.5')
            , @('--language', 'language hint, such as en or pt-BR')
            , @('-l', 'language hint, such as en or pt-BR')
            , @('--emotion', 'emotion id for the whole text')
            , @('--instruction', 'how to speak: style, dialect, role or mood')
            , @('--text-normalization', 'speak numbers, dates and units as words')
            , @('--no-text-normalization', 'do not speak numbers, dates and units as words')
            , @('--filter-emoji', 'leave decorative kaomoji out (experimental)')
            , @('--api', 'interface of the service: v3, v2, v1, compat-tts, compat-speech (default: v3)')
            , @('--cache', 'v1: have the audio stored for a while, and fetch it from there')
            , @('--via', 'how it is asked for: auto, sync, job, aligned (default: auto: aligned for captions, a job for a long text into a file)')
            , @('--split', 'auto speaks a text that is too long for its model in parts, and joins them (default); never refuses it')
            , @('--idempotency-key', 'key under which a repeated request is not billed again')
            , @('--request-id', 'trace id of the request')
            , @('--max-credits', 'refuse what may cost more')
            , @('--credit-rate', 'credits per character for --max-credits (default: from what was charged)')
            , @('--dry-run', 'print the request and send nothing')
            , @('--subtitles', 'write subtitles, as .srt or .vtt; may be repeated')
            , @('--timings', 'write the times of the words, as .json')
            , @('--cue-max-chars', 'characters on a line of a caption (default: 42)')
            , @('--cue-max-lines', 'lines of a caption (default: 2)')
            , @('--cue-max-duration', 'longest time of a caption (default: 7s)')
            , @('--cue-min-duration', 'shortest time of a caption (default: 1s)')
            , @('--cue-by', 'where captions are cut: phrase, sentence, word (default: phrase)')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--voice' = @{ Known = 'voice' }
            '-v' = @{ Known = 'voice' }
            '--voice-name' = @{ Known = 'voice-name' }
            '--model' = @{ Known = 'model' }
            '-m' = @{ Known = 'model' }
            '--format' = @{ Words = @('mp3', 'wav', 'ogg') }
            '--api' = @{ Words = @('v3', 'v2', 'v1', 'compat-tts', 'compat-speech') }
            '--via' = @{ Words = @('auto', 'sync', 'job', 'aligned') }
            '--split' = @{ Words = @('auto', 'never') }
            '--cue-by' = @{ Words = @('phrase', 'sentence', 'word') }
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'jobs' = @{
        Commands = @(
            , @('create', 'Have a text spoken in the background')
            , @('list', 'List your jobs')
            , @('get', 'Show one job')
            , @('wait', 'Wait for jobs, and save their audio')
            , @('download', 'Save the audio of a job, or of one segment')
        )
        Flags = @(
            , @('--status', 'only jobs in this state')
            , @('--page', 'page number, from 1')
            , @('--limit', 'jobs a page, at most 100 (default: 20)')
            , @('--all', 'every page')
            , @('--created-after', 'only jobs that are newer (asks v1)')
            , @('--api', 'interface of the service: v3, v1 (default: v3)')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--api' = @{ Words = @('v3', 'v1') }
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'jobs create' = @{
        Commands = @(
        )
        Flags = @(
            , @('--file', 'read the text from a file; - is stdin')
            , @('-f', 'read the text from a file; - is stdin')
            , @('--wait', 'wait until the job has ended')
            , @('--output', 'wait, and write the audio to a file; - is stdout')
            , @('-o', 'wait, and write the audio to a file; - is stdout')
            , @('--no-clobber', 'do not replace an existing file (exit code 31)')
            , @('--timeout', 'stop waiting after this time (exit code 28); the job goes on')
            , @('--poll-interval', 'ask this often (default: a tenth of the time that has passed; never sooner than the service says)')
            , @('--voice', 'voice id')
            , @('-v', 'voice id')
            , @('--voice-name', 'voice by its exact name, whatever its case')
            , @('--model', 'model id (default: the voice’’s own)')
            , @('-m', 'model id (default: the voice’’s own)')
            , @('--format', 'mp3, wav, ogg (default: the ending of --output, else mp3)')
            , @('--speed', 'speaking rate; 1 is the voice’’s own; 0.7 to 1.2 with altF, 0.5 to 2')
            , @('--volume', 'gain in decibels, -20 to 20')
            , @('--pitch', 'pitch shift in semitones, -12 to 12')
            , @('--stability', 'how even the delivery is; 0.5 to 1.5 with vendor, 0 to 1 with altF, 0 to 1.5')
            , @('--similarity', 'how close to the original voice; 0.5 to 1.5 with vendor, 0 to 1 with altF, 0 to 1.5')
            , @('--language', 'language hint, such as en or pt-BR')
            , @('-l', 'language hint, such as en or pt-BR')
            , @('--emotion', 'emotion id for the whole text')
            , @('--instruction', 'how to speak: style, dialect, role or mood')
            , @('--text-normalization', 'speak numbers, dates and units as words')
            , @('--no-text-normalization', 'do not speak numbers, dates and units as words')
            , @('--filter-emoji', 'leave decorative kaomoji out (experimental)')
            , @('--api', 'interface of the service: v3, v1 (default: v3)')
            , @('--idempotency-key', 'key under which a repeated request is not billed again')
            , @('--request-id', 'trace id of the request')
            , @('--max-credits', 'refuse what may cost more')
            , @('--credit-rate', 'credits per character for --max-credits (default: from what was charged)')
            , @('--dry-run', 'print the request and send nothing')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--voice' = @{ Known = 'voice' }
            '-v' = @{ Known = 'voice' }
            '--voice-name' = @{ Known = 'voice-name' }
            '--model' = @{ Known = 'model' }
            '-m' = @{ Known = 'model' }
            '--format' = @{ Words = @('mp3', 'wav', 'ogg') }
            '--api' = @{ Words = @('v3', 'v1') }
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'jobs list' = @{
        Commands = @(
        )
        Flags = @(
            , @('--status', 'only jobs in this state')
            , @('--page', 'page number, from 1')
            , @('--limit', 'jobs a page, at most 100 (default: 20)')
            , @('--all', 'every page')
            , @('--created-after', 'only jobs that are newer (asks v1)')
            , @('--api', 'interface of the service: v3, v1 (default: v3)')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--api' = @{ Words = @('v3', 'v1') }
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'jobs get' = @{
        Commands = @(
        )
        Flags = @(
            , @('--api', 'interface of the service: v3, v1 (default: v3)')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--api' = @{ Words = @('v3', 'v1') }
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = @{ Known = 'job' }
    }
    'jobs wait' = @{
        Commands = @(
        )
        Flags = @(
            , @('--output', 'save the audio: a file or -, a folder for several jobs')
            , @('-o', 'save the audio: a file or -, a folder for several jobs')
            , @('--timeout', 'stop waiting after this time (exit code 28); the job goes on')
            , @('--poll-interval', 'ask this often (default: a tenth of the time that has passed; never sooner than the service says)')
            , @('--api', 'interface of the service: v3, v1 (default: v3)')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--api' = @{ Words = @('v3', 'v1') }
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = @{ Known = 'job' }
    }
    'jobs download' = @{
        Commands = @(
        )
        Flags = @(
            , @('--output', 'write to a file; - is stdout')
            , @('-o', 'write to a file; - is stdout')
            , @('--segment', 'only this segment, from 0, as <id>-<n>.<ext>')
            , @('--api', 'interface of the service: v3, v1 (default: v3)')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--api' = @{ Words = @('v3', 'v1') }
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = @{ Known = 'job' }
    }
    'batch' = @{
        Commands = @(
        )
        Flags = @(
            , @('--lines', 'each line is an item; - is stdin')
            , @('--jsonl', 'each line is a JSON object: id, text or file, voiceId, modelId, output, format, and the controls by their API names; - is stdin')
            , @('--text-column', 'the column of a .csv that holds the texts (default: text)')
            , @('--no-recursive', 'leave out the folders inside of a folder')
            , @('--output-dir', 'where the audio goes')
            , @('--name', 'name of an output: {index}, {name}, {dir}, {id}, {voice}, {ext}')
            , @('--shard', 'speak only the I-th of N shares, as I/N (default: as Slurm, Kubernetes or CI say)')
            , @('--concurrency', 'items at a time (default: 4)')
            , @('-j', 'items at a time (default: 4)')
            , @('--subtitles', 'captions beside each output: srt or vtt')
            , @('--timings', 'word times beside each output')
            , @('--max-credits', 'send nothing that could use more')
            , @('--credit-rate', 'credits per character for the estimate (default: from what was charged)')
            , @('--retry-failed', 'ask again for what failed; what was paid for costs again')
            , @('--redo', 'buy this item again; may be repeated')
            , @('--redo-list', 'buy again the items whose ids are the lines of a file')
            , @('--overwrite', 'replace files that this batch did not make')
            , @('--idempotency-namespace', 'the same word on several machines: an item that two of them send is billed once')
            , @('--report', 'write a record of every item: JSON, or as .html a page to hear and approve them')
            , @('--dry-run', 'show what would be done, and send nothing')
            , @('--voice', 'voice id')
            , @('-v', 'voice id')
            , @('--voice-name', 'voice by its exact name, whatever its case')
            , @('--model', 'model id (default: the voice’’s own)')
            , @('-m', 'model id (default: the voice’’s own)')
            , @('--format', 'mp3, wav, ogg (default: the ending of the output’’s name, else mp3)')
            , @('--speed', 'speaking rate; 1 is the voice’’s own; 0.7 to 1.2 with altF, 0.5 to 2')
            , @('--volume', 'gain in decibels, -20 to 20')
            , @('--pitch', 'pitch shift in semitones, -12 to 12')
            , @('--stability', 'how even the delivery is; 0.5 to 1.5 with vendor, 0 to 1 with altF, 0 to 1.5')
            , @('--similarity', 'how close to the original voice; 0.5 to 1.5 with vendor, 0 to 1 with altF, 0 to 1.5')
            , @('--language', 'language hint, such as en or pt-BR')
            , @('-l', 'language hint, such as en or pt-BR')
            , @('--emotion', 'emotion id for the whole text')
            , @('--instruction', 'how to speak: style, dialect, role or mood')
            , @('--text-normalization', 'speak numbers, dates and units as words')
            , @('--no-text-normalization', 'do not speak numbers, dates and units as words')
            , @('--filter-emoji', 'leave decorative kaomoji out (experimental)')
            , @('--cue-max-chars', 'characters on a line of a caption (default: 42)')
            , @('--cue-max-lines', 'lines of a caption (default: 2)')
            , @('--cue-max-duration', 'longest time of a caption (default: 7s)')
            , @('--cue-min-duration', 'shortest time of a caption (default: 1s)')
            , @('--cue-by', 'where captions are cut: phrase, sentence, word (default: phrase)')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--subtitles' = @{ Words = @('srt', 'vtt') }
            '--voice' = @{ Known = 'voice' }
            '-v' = @{ Known = 'voice' }
            '--voice-name' = @{ Known = 'voice-name' }
            '--model' = @{ Known = 'model' }
            '-m' = @{ Known = 'model' }
            '--format' = @{ Words = @('mp3', 'wav', 'ogg') }
            '--cue-by' = @{ Words = @('phrase', 'sentence', 'word') }
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'live' = @{
        Commands = @(
            , @('capabilities', 'Show what realtime speech can do')
            , @('ticket', 'Print a ticket for the page of an origin')
            , @('status', 'Show what became of a realtime request')
            , @('segment', 'Save the stored audio of one segment')
        )
        Flags = @(
            , @('--file', 'read the text from a file; - is stdin')
            , @('-f', 'read the text from a file; - is stdin')
            , @('--output', 'write the audio to a file; - is stdout')
            , @('-o', 'write the audio to a file; - is stdout')
            , @('--no-clobber', 'do not replace an existing file (exit code 31)')
            , @('--play', 'play the audio; without -o no file is written')
            , @('--player', 'play with this program, which reads stdin')
            , @('--voice', 'voice id')
            , @('-v', 'voice id')
            , @('--voice-name', 'voice by its exact name, whatever its case')
            , @('--model', 'model id (default: that of the voice’’s family)')
            , @('-m', 'model id (default: that of the voice’’s family)')
            , @('--format', 'mp3, wav, opus, pcm (default: the ending of --output, else mp3)')
            , @('--speed', 'speaking rate; 1 is the voice’’s own; 0.7 to 1.2 with altF, 0.5 to 2')
            , @('--volume', 'gain in decibels, -20 to 20')
            , @('--stability', 'how even the delivery is; 0.5 to 1.5 with vendor, 0 to 1 with altF, 0 to 1.5')
            , @('--similarity', 'how close to the original voice; 0.5 to 1.5 with vendor, 0 to 1 with altF, 0 to 1.5')
            , @('--language', 'language hint, such as en or pt-BR')
            , @('-l', 'language hint, such as en or pt-BR')
            , @('--text-normalization', 'speak numbers, dates and units as words')
            , @('--no-text-normalization', 'do not speak numbers, dates and units as words')
            , @('--pitch', 'v2: pitch shift in semitones, -12 to 12')
            , @('--emotion', 'v2: emotion id for the whole text')
            , @('--instruction', 'v2: how to speak: style, dialect, role or mood')
            , @('--optimize-instructions', 'v2: let the model word the instruction')
            , @('--mode', 'simple speaks one text, reliable goes on after a lost line (default: reliable for a pipe and above 10,000 characters)')
            , @('--protocol', 'version of realtime speech: v3, v2 (default: v3)')
            , @('--segment-by', 'reliable: what is spoken as one: sentence, line, input (default: sentence)')
            , @('--flush-after', 'reliable: speak what is there when no more has come for so long (default: 700ms)')
            , @('--chunk-length', 'characters that are spoken in one go, 50 to 1000')
            , @('--latency', 'sooner or better: a word of the service')
            , @('--request-id', 'id under which the same is not billed again')
            , @('--retry-failed', 'reliable: go on with what failed under the same --request-id')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--voice' = @{ Known = 'voice' }
            '-v' = @{ Known = 'voice' }
            '--voice-name' = @{ Known = 'voice-name' }
            '--model' = @{ Known = 'model' }
            '-m' = @{ Known = 'model' }
            '--mode' = @{ Words = @('simple', 'reliable') }
            '--protocol' = @{ Words = @('v3', 'v2') }
            '--segment-by' = @{ Words = @('sentence', 'line', 'input') }
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'live capabilities' = @{
        Commands = @(
        )
        Flags = @(
            , @('--protocol', 'version of realtime speech: v3, v2 (default: v3)')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--protocol' = @{ Words = @('v3', 'v2') }
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'live ticket' = @{
        Commands = @(
        )
        Flags = @(
            , @('--origin', 'origin of the page, such as https://app.example.com')
            , @('--protocol', 'version of realtime speech: v3, v2 (default: v3)')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--protocol' = @{ Words = @('v3', 'v2') }
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'live status' = @{
        Commands = @(
        )
        Flags = @(
            , @('--protocol', 'version of realtime speech: v3, v2 (default: v3)')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--protocol' = @{ Words = @('v3', 'v2') }
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'live segment' = @{
        Commands = @(
        )
        Flags = @(
            , @('--output', 'write to a file; - is stdout')
            , @('-o', 'write to a file; - is stdout')
            , @('--protocol', 'version of realtime speech: v3, v2 (default: v3)')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--protocol' = @{ Words = @('v3', 'v2') }
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'voices' = @{
        Commands = @(
            , @('list', 'List the voices')
            , @('get', 'Show one voice')
            , @('create', 'Make a voice of recordings')
            , @('clone', 'Make a voice of recordings')
            , @('delete', 'Delete one of your own voices')
            , @('preview', 'Speak a line with each of some voices')
        )
        Flags = @(
            , @('--page', 'page number, from 1')
            , @('--page-size', 'voices a page, at most 100 (default: 20)')
            , @('--all', 'every page')
            , @('--include-personal', 'also your own voices')
            , @('--type', 'v1: public, personal, all')
            , @('--language', 'v1: exactly this primary language')
            , @('--supports-language', 'v1: this language among those of the voice')
            , @('--search', 'v1: part of the name or the description')
            , @('--provider', 'v1: this engine family')
            , @('--api', 'interface of the service: v3, v1, compat (default: v3, or v1 for its filters)')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--type' = @{ Words = @('public', 'personal', 'all') }
            '--api' = @{ Words = @('v3', 'v1', 'compat') }
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'voices list' = @{
        Commands = @(
        )
        Flags = @(
            , @('--page', 'page number, from 1')
            , @('--page-size', 'voices a page, at most 100 (default: 20)')
            , @('--all', 'every page')
            , @('--include-personal', 'also your own voices')
            , @('--type', 'v1: public, personal, all')
            , @('--language', 'v1: exactly this primary language')
            , @('--supports-language', 'v1: this language among those of the voice')
            , @('--search', 'v1: part of the name or the description')
            , @('--provider', 'v1: this engine family')
            , @('--api', 'interface of the service: v3, v1, compat (default: v3, or v1 for its filters)')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--type' = @{ Words = @('public', 'personal', 'all') }
            '--api' = @{ Words = @('v3', 'v1', 'compat') }
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'voices get' = @{
        Commands = @(
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = @{ Known = 'voice' }
    }
    'voices create' = @{
        Commands = @(
        )
        Flags = @(
            , @('--description', 'what the voice is like')
            , @('--reference-text', 'what is said in the recordings')
            , @('--visibility', 'private or public (default: private)')
            , @('--language', 'language that it speaks (may be repeated)')
            , @('--idempotency-key', 'sent along; no service documents that it heeds it here')
            , @('--request-id', 'trace id of the request')
            , @('--dry-run', 'print the request and send nothing')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--visibility' = @{ Words = @('private', 'public') }
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'voices clone' = @{
        Commands = @(
        )
        Flags = @(
            , @('--description', 'what the voice is like')
            , @('--reference-text', 'what is said in the recordings')
            , @('--visibility', 'private or public (default: private)')
            , @('--language', 'language that it speaks (may be repeated)')
            , @('--idempotency-key', 'sent along; no service documents that it heeds it here')
            , @('--request-id', 'trace id of the request')
            , @('--dry-run', 'print the request and send nothing')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--visibility' = @{ Words = @('private', 'public') }
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'voices delete' = @{
        Commands = @(
        )
        Flags = @(
            , @('--yes', 'do not ask')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = @{ Known = 'voice' }
    }
    'voices preview' = @{
        Commands = @(
        )
        Flags = @(
            , @('--text', 'the line')
            , @('--output-dir', 'folder for the files (default: this one)')
            , @('--play', 'play them one after the other; alone it writes no files')
            , @('--player', 'play with this program, which reads stdin')
            , @('--model', 'model id (default: each voice’’s own)')
            , @('-m', 'model id (default: each voice’’s own)')
            , @('--format', 'format of the files (default: mp3)')
            , @('--idempotency-key', 'key under which the same line of one voice is not billed again')
            , @('--request-id', 'trace id of the request')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--model' = @{ Known = 'model' }
            '-m' = @{ Known = 'model' }
            '--format' = @{ Words = @('mp3', 'wav', 'ogg') }
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = @{ Known = 'voice' }
    }
    'design' = @{
        Commands = @(
            , @('create', 'Have candidates made for a voice that is described in words')
            , @('preview', 'Save the preview of a candidate')
            , @('save', 'Make a permanent voice of a candidate')
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'design create' = @{
        Commands = @(
        )
        Flags = @(
            , @('--preview-text', 'what the candidates say')
            , @('--provider', 'engine family to take (may be repeated)')
            , @('--output-dir', 'save the preview of every candidate there, as <candidate>.<ext>')
            , @('--idempotency-key', 'key under which the same design is not billed again')
            , @('--request-id', 'trace id of the request')
            , @('--dry-run', 'print the request and send nothing')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'design preview' = @{
        Commands = @(
        )
        Flags = @(
            , @('--output', 'write to a file; - is stdout')
            , @('-o', 'write to a file; - is stdout')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'design save' = @{
        Commands = @(
        )
        Flags = @(
            , @('--name', 'name of the voice')
            , @('--visibility', 'private or public (default: private)')
            , @('--language', 'language of the voice (default: that of the design)')
            , @('--idempotency-key', 'key under which the same candidate is saved once only')
            , @('--request-id', 'trace id of the request')
            , @('--dry-run', 'print the request and send nothing')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--visibility' = @{ Words = @('private', 'public') }
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'lipsync' = @{
        Commands = @(
            , @('create', 'Have a sound put to a video')
            , @('list', 'List your lip-sync jobs')
            , @('get', 'Show one job')
            , @('wait', 'Wait for jobs, and save what they make')
            , @('download', 'Save the video of a job')
        )
        Flags = @(
            , @('--status', 'only jobs in this state')
            , @('--page', 'page number, from 1')
            , @('--limit', 'jobs a page, at most 100 (default: 20)')
            , @('--all', 'every page')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'lipsync create' = @{
        Commands = @(
        )
        Flags = @(
            , @('--video', 'the video: an address, or a file')
            , @('--audio', 'the sound: an address, or a file')
            , @('--extend', 'repeat the video up to the end of the sound, instead of cutting it')
            , @('--wait', 'wait until the job has ended')
            , @('--output', 'wait, and write the video to a file; - is stdout')
            , @('-o', 'wait, and write the video to a file; - is stdout')
            , @('--no-clobber', 'do not replace an existing file (exit code 31)')
            , @('--timeout', 'stop waiting after this time (exit code 28); the job goes on')
            , @('--poll-interval', 'ask this often (default: a tenth of the time that has passed; never sooner than the service says)')
            , @('--idempotency-key', 'sent along; no service documents that it heeds it here')
            , @('--request-id', 'trace id of the request')
            , @('--dry-run', 'print the request and send nothing')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'lipsync list' = @{
        Commands = @(
        )
        Flags = @(
            , @('--status', 'only jobs in this state')
            , @('--page', 'page number, from 1')
            , @('--limit', 'jobs a page, at most 100 (default: 20)')
            , @('--all', 'every page')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'lipsync get' = @{
        Commands = @(
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'lipsync wait' = @{
        Commands = @(
        )
        Flags = @(
            , @('--output', 'save it: a file or -, a folder for several jobs')
            , @('-o', 'save it: a file or -, a folder for several jobs')
            , @('--timeout', 'stop waiting after this time (exit code 28); the job goes on')
            , @('--poll-interval', 'ask this often (default: a tenth of the time that has passed; never sooner than the service says)')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'lipsync download' = @{
        Commands = @(
        )
        Flags = @(
            , @('--output', 'write to a file; - is stdout')
            , @('-o', 'write to a file; - is stdout')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'dub' = @{
        Commands = @(
            , @('create', 'Have a video dubbed')
            , @('get', 'Show one job')
            , @('wait', 'Wait for jobs, and save what they make')
            , @('download', 'Save the video of a job')
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'dub create' = @{
        Commands = @(
        )
        Flags = @(
            , @('--file', 'read the text from a file; - is stdin')
            , @('-f', 'read the text from a file; - is stdin')
            , @('--video', 'the video: an address, or a file')
            , @('--voice', 'voice id')
            , @('-v', 'voice id')
            , @('--voice-name', 'voice by its exact name, whatever its case')
            , @('--model', 'model id (default: the voice’’s own)')
            , @('-m', 'model id (default: the voice’’s own)')
            , @('--speed', 'speaking rate; 1 is the voice’’s own; 0.7 to 1.2 with altF, 0.5 to 2')
            , @('--language', 'language hint, such as en or pt-BR')
            , @('-l', 'language hint, such as en or pt-BR')
            , @('--fit', 'speak faster or slower, 0.5x to 2x, so that it ends with the video')
            , @('--wait', 'wait until the job has ended')
            , @('--output', 'wait, and write the video to a file; - is stdout')
            , @('-o', 'wait, and write the video to a file; - is stdout')
            , @('--no-clobber', 'do not replace an existing file (exit code 31)')
            , @('--timeout', 'stop waiting after this time (exit code 28); the job goes on')
            , @('--poll-interval', 'ask this often (default: a tenth of the time that has passed; never sooner than the service says)')
            , @('--idempotency-key', 'key under which the same order is not billed again')
            , @('--request-id', 'trace id of the request')
            , @('--dry-run', 'print the request and send nothing')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--voice' = @{ Known = 'voice' }
            '-v' = @{ Known = 'voice' }
            '--voice-name' = @{ Known = 'voice-name' }
            '--model' = @{ Known = 'model' }
            '-m' = @{ Known = 'model' }
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'dub get' = @{
        Commands = @(
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'dub wait' = @{
        Commands = @(
        )
        Flags = @(
            , @('--output', 'save it: a file or -, a folder for several jobs')
            , @('-o', 'save it: a file or -, a folder for several jobs')
            , @('--timeout', 'stop waiting after this time (exit code 28); the job goes on')
            , @('--poll-interval', 'ask this often (default: a tenth of the time that has passed; never sooner than the service says)')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'dub download' = @{
        Commands = @(
        )
        Flags = @(
            , @('--output', 'write to a file; - is stdout')
            , @('-o', 'write to a file; - is stdout')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'image' = @{
        Commands = @(
            , @('create', 'Have a picture made')
            , @('models', 'List the models, with what they cost')
            , @('get', 'Show one job')
            , @('wait', 'Wait for jobs, and save what they make')
            , @('download', 'Save the picture of a job')
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'image create' = @{
        Commands = @(
        )
        Flags = @(
            , @('--model', 'model id, from `foley image models`')
            , @('-m', 'model id, from `foley image models`')
            , @('--image', 'a picture to go by (may be repeated, up to 4)')
            , @('--max-credits', 'refuse when the model asks for more')
            , @('--aspect-ratio', 'width to height, such as 16:9')
            , @('--resolution', '1k, 2k, 4k, where the model offers it (default: 1k)')
            , @('--preview', 'wait, save the picture, and show it where the terminal can')
            , @('--wait', 'wait until the job has ended')
            , @('--output', 'wait, and write the picture to a file; - is stdout')
            , @('-o', 'wait, and write the picture to a file; - is stdout')
            , @('--no-clobber', 'do not replace an existing file (exit code 31)')
            , @('--timeout', 'stop waiting after this time (exit code 28); the job goes on')
            , @('--poll-interval', 'ask this often (default: a tenth of the time that has passed; never sooner than the service says)')
            , @('--idempotency-key', 'key under which the same order is not billed again')
            , @('--request-id', 'trace id of the request')
            , @('--dry-run', 'print the request and send nothing')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--model' = @{ Known = 'model' }
            '-m' = @{ Known = 'model' }
            '--resolution' = @{ Words = @('1k', '2k', '4k') }
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'image models' = @{
        Commands = @(
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'image get' = @{
        Commands = @(
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'image wait' = @{
        Commands = @(
        )
        Flags = @(
            , @('--output', 'save it: a file or -, a folder for several jobs')
            , @('-o', 'save it: a file or -, a folder for several jobs')
            , @('--timeout', 'stop waiting after this time (exit code 28); the job goes on')
            , @('--poll-interval', 'ask this often (default: a tenth of the time that has passed; never sooner than the service says)')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'image download' = @{
        Commands = @(
        )
        Flags = @(
            , @('--output', 'write to a file; - is stdout')
            , @('-o', 'write to a file; - is stdout')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'video' = @{
        Commands = @(
            , @('create', 'Have a video made')
            , @('models', 'List the models, with what they cost')
            , @('get', 'Show one job')
            , @('wait', 'Wait for jobs, and save what they make')
            , @('download', 'Save the video of a job')
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'video create' = @{
        Commands = @(
        )
        Flags = @(
            , @('--model', 'model id, from `foley video models`')
            , @('-m', 'model id, from `foley video models`')
            , @('--image', 'a picture to go by (may be repeated, up to 4)')
            , @('--max-credits', 'refuse when the model asks for more')
            , @('--seconds', 'how long it is')
            , @('--size', 'width x height in pixels, such as 1280x720')
            , @('--wait', 'wait until the job has ended')
            , @('--output', 'wait, and write the video to a file; - is stdout')
            , @('-o', 'wait, and write the video to a file; - is stdout')
            , @('--no-clobber', 'do not replace an existing file (exit code 31)')
            , @('--timeout', 'stop waiting after this time (exit code 28); the job goes on')
            , @('--poll-interval', 'ask this often (default: a tenth of the time that has passed; never sooner than the service says)')
            , @('--idempotency-key', 'key under which the same order is not billed again')
            , @('--request-id', 'trace id of the request')
            , @('--dry-run', 'print the request and send nothing')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--model' = @{ Known = 'model' }
            '-m' = @{ Known = 'model' }
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'video models' = @{
        Commands = @(
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'video get' = @{
        Commands = @(
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'video wait' = @{
        Commands = @(
        )
        Flags = @(
            , @('--output', 'save it: a file or -, a folder for several jobs')
            , @('-o', 'save it: a file or -, a folder for several jobs')
            , @('--timeout', 'stop waiting after this time (exit code 28); the job goes on')
            , @('--poll-interval', 'ask this often (default: a tenth of the time that has passed; never sooner than the service says)')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'video download' = @{
        Commands = @(
        )
        Flags = @(
            , @('--output', 'write to a file; - is stdout')
            , @('-o', 'write to a file; - is stdout')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'models' = @{
        Commands = @(
            , @('list', 'List the models')
            , @('get', 'Show one model')
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'models list' = @{
        Commands = @(
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'models get' = @{
        Commands = @(
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = @{ Known = 'model' }
    }
    'profile' = @{
        Commands = @(
            , @('get', 'Show the account')
            , @('set', 'Change the webhook')
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'profile get' = @{
        Commands = @(
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'profile set' = @{
        Commands = @(
        )
        Flags = @(
            , @('--webhook-url', 'address that the service may notify; empty clears it')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'captions' = @{
        Commands = @(
        )
        Flags = @(
            , @('--subtitles', 'write subtitles, as .srt or .vtt; may be repeated')
            , @('--cue-max-chars', 'characters on a line of a caption (default: 42)')
            , @('--cue-max-lines', 'lines of a caption (default: 2)')
            , @('--cue-max-duration', 'longest time of a caption (default: 7s)')
            , @('--cue-min-duration', 'shortest time of a caption (default: 1s)')
            , @('--cue-by', 'where captions are cut: phrase, sentence, word (default: phrase)')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--cue-by' = @{ Words = @('phrase', 'sentence', 'word') }
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'inspect' = @{
        Commands = @(
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'recover' = @{
        Commands = @(
        )
        Flags = @(
            , @('--list', 'show what is there and change nothing')
            , @('--forget', 'remove what is left of this one, without recovering it')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'auth' = @{
        Commands = @(
            , @('login', 'Store an account: a service and its API key')
            , @('logout', 'Remove a stored account')
            , @('status', 'Show which service and which key are used')
            , @('list', 'List the stored accounts')
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'auth login' = @{
        Commands = @(
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'auth logout' = @{
        Commands = @(
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'auth status' = @{
        Commands = @(
        )
        Flags = @(
            , @('--check', 'also ask the service whether it accepts the key')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'auth list' = @{
        Commands = @(
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'config' = @{
        Commands = @(
            , @('get', 'Print the value of a setting')
            , @('set', 'Set a setting')
            , @('unset', 'Remove a setting')
            , @('list', 'List the settings, with --show-origin also where they come from')
            , @('path', 'Print where the settings are kept')
        )
        Flags = @(
            , @('--show-origin', 'also where each value comes from')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'config get' = @{
        Commands = @(
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = @{ Known = 'setting' }
    }
    'config set' = @{
        Commands = @(
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = @{ Known = 'setting' }
    }
    'config unset' = @{
        Commands = @(
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = @{ Known = 'setting' }
    }
    'config list' = @{
        Commands = @(
        )
        Flags = @(
            , @('--show-origin', 'also where each value comes from')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'config path' = @{
        Commands = @(
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'api' = @{
        Commands = @(
        )
        Flags = @(
            , @('--field', 'add a field: true, false, null and numbers are sent as such, @file is the content of a file (may be repeated)')
            , @('-F', 'add a field: true, false, null and numbers are sent as such, @file is the content of a file (may be repeated)')
            , @('--raw-field', 'add a field whose value is always a string (may be repeated)')
            , @('-f', 'add a field whose value is always a string (may be repeated)')
            , @('--body', 'send this file as the body; - is stdin')
            , @('--header', 'set a header (may be repeated)')
            , @('-H', 'set a header (may be repeated)')
            , @('--form', 'send the fields as a form, with @file as a file upload')
            , @('--include', 'print the status line and the headers first')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'serve' = @{
        Commands = @(
        )
        Flags = @(
            , @('--host', 'address to listen on')
            , @('--port', 'port to listen on; 0 is a free one')
            , @('--data-dir', 'where its data is kept (default: the state folder)')
            , @('--accept-keys-file', 'API keys to accept, lines of "key[ account]"')
            , @('--credits', 'credits that every account begins this run with')
            , @('--rate-limit', 'requests of an account, such as 10/s, after a burst of one second’’s')
            , @('--max-waiting', 'requests that may wait for speech; more get 429 (default: 64)')
            , @('--unavailable', 'model that is refused as unavailable (may be repeated)')
            , @('--fault', 'misbehave, such as "POST /**; status=503" (may be repeated)')
            , @('--allow-host', 'host to answer besides loopback, and to fetch media from (may be repeated)')
            , @('--allow-origin', 'origin of a page to answer (may be repeated)')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'engine' = @{
        Commands = @(
            , @('add', 'Install espeak-ng, or add a program that speaks')
            , @('list', 'List the engines that were added')
            , @('remove', 'Remove an engine that was added')
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'engine add' = @{
        Commands = @(
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'engine list' = @{
        Commands = @(
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'engine remove' = @{
        Commands = @(
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = @{ Known = 'engine' }
    }
    'doctor' = @{
        Commands = @(
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'completion' = @{
        Commands = @(
            , @('bash', 'Print the script for bash')
            , @('zsh', 'Print the script for zsh')
            , @('fish', 'Print the script for fish')
            , @('powershell', 'Print the script for PowerShell')
            , @('install', 'Put the script where the shell finds it')
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'completion bash' = @{
        Commands = @(
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'completion zsh' = @{
        Commands = @(
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'completion fish' = @{
        Commands = @(
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'completion powershell' = @{
        Commands = @(
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'completion install' = @{
        Commands = @(
        )
        Flags = @(
            , @('--shell', 'bash, zsh, fish, powershell (default: the one of $SHELL)')
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--shell' = @{ Words = @('bash', 'zsh', 'fish', 'powershell') }
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'help' = @{
        Commands = @(
            , @('exit-codes', 'What the exit codes mean')
            , @('flags', 'Show the flags that every command has')
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'help exit-codes' = @{
        Commands = @(
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
    'help flags' = @{
        Commands = @(
        )
        Flags = @(
            , @('--json', 'print one JSON document')
            , @('--quiet', 'print only the result and errors')
            , @('-q', 'print only the result and errors')
            , @('--verbose', 'print a line for each request on stderr')
            , @('--account', 'stored account to use')
            , @('--local', 'use the embedded service on purpose')
            , @('--base-url', 'address of the hosted service')
            , @('--realtime-url', 'its realtime host, where that is another')
            , @('--api-key-file', 'read the API key from a file; - is stdin')
            , @('--max-retries', 'how often a request is tried again (default: 4)')
            , @('--response-timeout', 'wait this long for an answer to begin (default: 10m when billed, else 60s)')
            , @('--idle-timeout', 'longest silence within an answer (default: 60s)')
            , @('--max-bytes', 'abort audio above this size (default: 8 times what its text needs, at least 256 MiB)')
            , @('--no-progress', 'show no progress')
            , @('--color', 'use colors: auto, always or never')
            , @('--no-input', 'never ask anything')
            , @('--version', 'print the version')
            , @('-V', 'print the version')
            , @('--help', 'show this help')
            , @('-h', 'show this help')
        )
        Values = @{
            '--account' = @{ Known = 'account' }
            '--color' = @{ Words = @('auto', 'always', 'never') }
        }
        Argument = $null
    }
}

$script:FoleyFlagsWithValue = @(
    '--accept-keys-file'
    '--account'
    '--allow-host'
    '--allow-origin'
    '--api'
    '--api-key-file'
    '--aspect-ratio'
    '--audio'
    '--base-url'
    '--body'
    '--chunk-length'
    '--color'
    '--concurrency'
    '--created-after'
    '--credit-rate'
    '--credits'
    '--cue-by'
    '--cue-max-chars'
    '--cue-max-duration'
    '--cue-max-lines'
    '--cue-min-duration'
    '--data-dir'
    '--description'
    '--emotion'
    '--fault'
    '--field'
    '--file'
    '--flush-after'
    '--forget'
    '--format'
    '--header'
    '--host'
    '--idempotency-key'
    '--idempotency-namespace'
    '--idle-timeout'
    '--image'
    '--instruction'
    '--jsonl'
    '--language'
    '--latency'
    '--limit'
    '--lines'
    '--max-bytes'
    '--max-credits'
    '--max-retries'
    '--max-waiting'
    '--mode'
    '--model'
    '--name'
    '--origin'
    '--output'
    '--output-dir'
    '--page'
    '--page-size'
    '--pitch'
    '--player'
    '--poll-interval'
    '--port'
    '--preview-text'
    '--protocol'
    '--provider'
    '--rate-limit'
    '--raw-field'
    '--realtime-url'
    '--redo'
    '--redo-list'
    '--reference-text'
    '--report'
    '--request-id'
    '--resolution'
    '--response-timeout'
    '--search'
    '--seconds'
    '--segment'
    '--segment-by'
    '--shard'
    '--shell'
    '--similarity'
    '--size'
    '--speed'
    '--split'
    '--stability'
    '--status'
    '--subtitles'
    '--supports-language'
    '--text'
    '--text-column'
    '--timeout'
    '--timings'
    '--type'
    '--unavailable'
    '--via'
    '--video'
    '--visibility'
    '--voice'
    '--voice-name'
    '--volume'
    '--webhook-url'
    '-F'
    '-H'
    '-f'
    '-j'
    '-l'
    '-m'
    '-o'
    '-v'
)

Register-ArgumentCompleter -Native -CommandName foley -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $path = ''
    $before = ''
    $skip = $false
    foreach ($element in $commandAst.CommandElements | Select-Object -Skip 1) {
        if ($element.Extent.EndOffset -ge $cursorPosition -and $wordToComplete -ne '') { break }
        $word = $element.ToString()
        $before = $word
        if ($skip) { $skip = $false; continue }
        if ($script:FoleyFlagsWithValue -ccontains $word) { $skip = $true; continue }
        if ($word.StartsWith('-')) { continue }
        $candidate = ("$path $word").Trim()
        if ($script:FoleyPlaces.ContainsKey($candidate)) { $path = $candidate }
    }

    $place = $script:FoleyPlaces[$path]
    $source = if ($skip) { $place.Values[$before] } else { $place.Argument }
    $offered = @()
    if (-not $skip) {
        $offered += if ($wordToComplete.StartsWith('-')) { $place.Flags } else { $place.Commands }
    }
    if ($source -and $source.Words) {
        $offered += $source.Words | ForEach-Object { , @($_, $_) }
    }
    if ($source -and $source.Known) {
        # foley asks no service for them.
        $offered += foley completion names $source.Known 2>$null | ForEach-Object {
            $name, $about = $_ -split "`t", 2
            , @($name, $(if ($about) { $about } else { $name }))
        }
    }
    $offered |
        Where-Object { $_ -and $_[0].StartsWith($wordToComplete, [System.StringComparison]::Ordinal) } |
        ForEach-Object {
            $text = $_[0]
            if ($text -notmatch '^[\w.,:@/+-]+$') { $text = "'" + $text.Replace("'", "''") + "'" }
            [System.Management.Automation.CompletionResult]::new($text, $_[0], 'ParameterValue', $_[1])
        }
}
