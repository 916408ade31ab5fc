/** What the manual says of foley as a whole; the rest of it is written from the command tree. */
export const OVERVIEW = {
  summary: 'audio production from the command line, with a complete offline service built in',
  description: [
    'foley makes speech, word-timed captions, realtime speech, cloned and designed voices, lip sync, dubbing, images and video, against one ' +
      'audio-generation API. It carries a complete offline implementation of that API, which answers when no service is configured.',
    'The result is on stdout and nothing else is: audio, a table, or with --json one document. Everything else is on stderr. ' +
      'A file at its final name is whole: it is written beside its target, checked, synced and renamed.',
  ],
} as const;

export const FILES = [
  ['$XDG_CONFIG_HOME/foley/config.json', 'Settings: see foley config list.'],
  ['$XDG_CONFIG_HOME/foley/accounts.json', 'Accounts and their keys, readable by you alone.'],
  [
    '$XDG_STATE_HOME/foley',
    'What was paid for and is not delivered yet, and the data of the embedded service.',
  ],
  ['$XDG_CACHE_HOME/foley', 'Compiled code, and names for completion. It may be removed.'],
  ['foley.json', 'Settings of a project, in its folder or one above.'],
] as const;

export const BILLING = [
  'What may cost something is written down before it is sent, under a key with which the same request is not billed again. ' +
    'Audio that was paid for and could not get where it should is kept, and foley recover brings it back.',
  'A batch that is run again speaks only what is missing. A failure whose cost nobody knows ends with 26 and names the key with which asking ' +
    'again costs nothing; 27 says what was billed and cannot be had again.',
] as const;

export const FIRST_STEPS = `foley tts "Hello from foley" -o hello.mp3
foley tts -f chapter.txt -o chapter.mp3 --subtitles chapter.srt
foley batch chapters/ --output-dir audio
foley serve --port 4747`;
