import type { TestedElsewhere } from './behaviour.ts';

const SPEECH = 'POST /api/open/v3/speech/tts';
const JOBS = 'POST /api/open/v3/speech/tts/jobs';

/** What no client can bring about from outside, with the test that has the means. */
export const testedElsewhere: readonly TestedElsewhere[] = [
  {
    id: 'tts-v3.failed',
    section: '7.1',
    on: SPEECH,
    what: '500: generation failed; what was set aside is given back',
    covers: ['ERR_GENERATION_FAILED'],
    test: ['test/service/speech.test.ts', 'refunds what fails before the first byte'],
  },
  {
    id: 'tts-v2.request-id.refunded',
    section: '7.2',
    on: 'POST /api/open/v2/speech/tts',
    what: 'Same key, a refunded request is 409 `ERR_REQUEST_PREVIOUSLY_REFUNDED`',
    covers: ['ERR_REQUEST_PREVIOUSLY_REFUNDED'],
    test: ['test/service/speech-v2.test.ts', 'after a failure says that it was refunded'],
  },
  {
    id: 'tts-v3.key.refunded',
    section: '7.2',
    on: SPEECH,
    what: 'A request whose client left before the first byte is refunded, and its key says so',
    covers: ['ERR_REQUEST_PREVIOUSLY_REFUNDED'],
    test: ['test/service/speech.test.ts', 'refunds a client that goes before the first byte'],
  },
  {
    id: 'tts-v3.key.in-progress',
    section: '7.2',
    on: SPEECH,
    what: 'Same key while it runs: 409 `ERR_REQUEST_IN_PROGRESS` with `Retry-After`, and a conflict for another body',
    covers: ['ERR_REQUEST_IN_PROGRESS', 'Retry-After'],
    test: ['test/service/idempotency.test.ts', 'in progress gives 409 with Retry-After'],
  },
  {
    id: 'tts-v3.quota-short',
    section: '7.1',
    on: SPEECH,
    what: '402: the quota is short',
    covers: ['ERR_INSUFFICIENT_CREDITS'],
    test: ['test/service/speech.test.ts', 'answers 402 when the quota is short'],
  },
  {
    id: 'keys.accounts',
    section: '5',
    on: SPEECH,
    what: 'An idempotency key belongs to its account',
    test: ['test/service/idempotency.test.ts', 'belongs to its account'],
  },
  {
    id: 'jobs.lifecycle',
    section: '3.1',
    on: JOBS,
    what: 'Every state can be reached, nothing leaves a terminal one, and money is settled exactly then',
    test: ['test/service/jobs/lifecycle.test.ts', 'nothing happens to one that has ended'],
  },
  {
    id: 'jobs.recovery',
    section: '3.1',
    on: JOBS,
    what: 'A job whose process died is finished by the next, from the first segment that was not spoken',
    test: ['test/service/jobs/recovery.test.ts', 'is finished by the next'],
  },
  {
    id: 'jobs.audio.expires',
    section: '4.3',
    on: 'GET /api/open/tts/jobs/{taskId}/audio',
    what: 'The signed location expires, and nobody can make one up: 403',
    covers: ['ERR_FORBIDDEN'],
    test: ['test/service/jobs/audio.test.ts', 'is good for five minutes'],
  },
  {
    id: 'filterEmoji.rules',
    section: '4.1',
    on: SPEECH,
    what: 'Only whole decorative kaomoji are left out: no emoji, ASCII face, code, URL, quote or tag',
    test: ['test/service/kaomoji.test.ts', 'keeps the words around a face whole'],
  },
  {
    id: 'host.foreign',
    section: '5',
    on: 'any path',
    what: 'A foreign `Host` is 421 and a foreign `Origin` 403: keys do not belong in pages (ours)',
    covers: ['ERR_HOST_NOT_ALLOWED', 'ERR_ORIGIN_NOT_ALLOWED'],
    test: ['test/service/guard.test.ts', 'counts in the address too'],
  },
  {
    id: 'http.broken',
    section: '7',
    on: 'any path',
    what: 'What is no proper request is refused in the same body: too slow 408, headers too large 431 (ours)',
    covers: ['ERR_REQUEST_TIMEOUT', 'ERR_HEADERS_TOO_LARGE'],
    test: ['test/service/server.test.ts', 'what is no proper request'],
  },
  {
    id: 'service.closing',
    section: '7.1',
    on: 'any path',
    what: '503 while the service closes (ours)',
    covers: ['ERR_SERVICE_UNAVAILABLE'],
    test: [
      'test/service/speech.test.ts',
      'finishes what runs when it closes, and takes nothing new',
    ],
  },
  {
    id: 'service.internal',
    section: '7.1',
    on: 'any path',
    what: 'No body whatever gives a 500, and every error is in the envelope',
    covers: ['ERR_INTERNAL'],
    test: ['test/service/fuzz.property.test.ts', 'and never with a 500'],
  },
  {
    id: 'clients.openai',
    section: '4.4',
    on: 'POST /v1/audio/speech',
    what: 'The official `openai` client takes it for its own service',
    test: [
      'test/binary/surfaces/openai-client.test.ts',
      'gets mp3, wav and pcm that can be played',
    ],
  },
  {
    id: 'clients.fish-audio',
    section: '4.4',
    on: 'POST /v1/tts',
    what: 'The npm client of that interface takes it for its own service, MessagePack bodies included',
    test: [
      'test/binary/surfaces/fish-audio-client.test.ts',
      'gets mp3, wav and pcm that can be played',
    ],
  },
];
