import type { AnswerField } from '../answer-fields.ts';
import { answerFields } from '../answer-fields.ts';
import type { Behaviour } from '../behaviour.ts';
import { at, claimStatus } from '../claims.ts';
import type { RequestField } from '../request-fields.ts';
import { requestFields } from '../request-fields.ts';
import type { ServiceUnderTest } from '../service-under-test.ts';
import { accepted, DUBBING, ended, LIP_SYNC, mediaBody } from './media-calls.ts';

const ENVELOPE: readonly AnswerField[] = [
  ['success', 'boolean', 'whether the request was understood'],
  ['message', 'string', 'the same in words'],
];
const BILLING: readonly AnswerField[] = [
  ['billing_duration_seconds', 'integer', 'the seconds that are billed'],
  ['video_duration_seconds', 'number', 'how long the video is'],
  ['audio_duration_seconds', 'number', 'how long the audio is, without the padding of its codec'],
  [
    'billing_rule',
    'string',
    '`shorter_input_rounded_up`, or `audio_rounded_up` for an extended video',
  ],
];
const OF_JOB: readonly AnswerField[] = [
  ['id', 'id', 'the job'],
  ['status', 'string', '`pending`, `processing`, `completed` or `failed`'],
];
const OURS: readonly AnswerField[] = [
  ['progress', 'integer', 'percent'],
  ['created_at', 'instant', 'when it was accepted'],
  ['finished_at', 'null or string', 'when it ended'],
  ['result_url', 'null or string', 'where the result is, without a key and for a day'],
  ['error', 'null or object', '`code` and `message` of a failed one'],
  ['result', 'null or object', 'what was made'],
];
const RESULT: readonly AnswerField[] = [
  ['duration_seconds', 'number', 'how long it is'],
  ['width', 'integer', 'pixels, as it is shown'],
  ['height', 'integer', 'pixels, as it is shown'],
  ['video_codec', 'string', 'that of the source'],
  ['audio_codec', 'string', 'that of the source, or `aac`'],
  ['size_bytes', 'integer', 'how large it is'],
];
const CREDITS: readonly AnswerField[] = [
  ['tts', 'integer', 'the speech'],
  ['lip_sync', 'integer', 'the lip sync'],
  ['total', 'integer', 'both'],
];
const ADDRESS = {
  what: 'an http or https address of at most 2,048 characters, without a name and a password',
  isRequired: true,
  refuses: [
    '',
    'media/video.mp4',
    'file:///etc/passwd',
    'ftp://127.0.0.1/video.mp4',
    'http://user:word@127.0.0.1/video.mp4',
    `http://127.0.0.1/${'x'.repeat(2_048)}`,
    5,
  ],
  limits: ['MEDIA_URL_MAX_CHARACTERS'],
};

function within(path: string, fields: readonly AnswerField[]): readonly AnswerField[] {
  return fields.map(([name, type, meaning]) => [`${path}.${name}`, type, meaning] as const);
}

/** Every field of lip sync and dubbing (docs/api/lip-sync.md and docs/api/lip-sync.md#dubbing). */
export const mediaFields: readonly Behaviour[] = [
  ...lipSyncAnswers(),
  ...dubbingAnswers(),
  ...requestFields(
    {
      id: 'lip-sync',
      of: 'LipSyncRequest',
      section: 'lip-sync',
      on: `POST ${LIP_SYNC}`,
      plain: (service) => mediaBody(service, LIP_SYNC),
      claimTaken: (answer) => claimStatus(answer, 200, 201, 202),
    },
    [
      { name: 'video_url', ...ADDRESS },
      { name: 'audio_url', ...ADDRESS },
      { name: 'video_extension', what: 'boolean', takes: [false, true], refuses: ['true', 1] },
    ],
  ),
  ...requestFields(
    {
      id: 'dubbing',
      of: 'DubbingRequest',
      section: 'lip-sync',
      on: `POST ${DUBBING}`,
      plain: (service) => mediaBody(service, DUBBING),
      claimTaken: (answer) => claimStatus(answer, 200, 201, 202),
    },
    dubbingFields(),
  ),
];

function dubbingFields(): readonly RequestField[] {
  return [
    { name: 'video_url', ...ADDRESS },
    {
      name: 'text',
      what: 'a string of 1 to 10,000 characters with something to say in it',
      isRequired: true,
      refuses: ['', '  ', 'x'.repeat(10_001), 5],
    },
    { name: 'reference_id', what: 'a voice id', isRequired: true, refuses: ['', 5] },
    { name: 'model_id', what: 'a model of the voice', refuses: ['no-such-model', '', 1] },
    { name: 'speed', what: '0.5 to 2', takes: [0.5, 2], refuses: [0.49, 2.01, '1'] },
    { name: 'language', what: 'a hint of 1 to 64 characters', takes: ['en'], refuses: ['', 5] },
    { name: 'fit_audio_to_video', what: 'boolean', takes: [false], refuses: ['true', 1] },
  ];
}

function lipSyncAnswers(): readonly Behaviour[] {
  const on = `GET ${LIP_SYNC}/{jobId}`;
  return [
    ...answerFields(
      {
        of: 'LipSyncAccepted',
        section: 'lip-sync',
        on: `POST ${LIP_SYNC}`,
        spends: true,
        sample: async (service) => (await accepted(service, LIP_SYNC)).json(),
      },
      [
        ...ENVELOPE,
        ...within('data', [
          ...OF_JOB,
          ['credits_used', 'integer', 'what is set aside'],
          ...BILLING,
        ]),
      ],
    ),
    ...answerFields(
      { of: 'LipSyncAnswer', section: 'lip-sync', on, spends: true, sample: lipSync },
      [...ENVELOPE, ['data', 'object', 'the job']],
    ),
    ...answerFields(
      {
        of: 'LipSyncJob',
        section: 'lip-sync',
        on,
        spends: true,
        sample: async (service) => at(await lipSync(service), 'data'),
      },
      [...OF_JOB, ['credits_used', 'integer', 'what it cost'], ...BILLING],
    ),
    ...answerFields(
      {
        of: 'LipSyncJob',
        section: 'lip-sync',
        on,
        spends: true,
        isOurChoice: true,
        sample: async (service) => at(await lipSync(service), 'data'),
      },
      OURS,
    ),
    ...answerFields(
      {
        of: 'LipSyncResult',
        section: 'lip-sync',
        on,
        spends: true,
        isOurChoice: true,
        sample: async (service) => at(await lipSync(service), 'data.result'),
      },
      RESULT,
    ),
    ...answerFields(
      {
        of: 'LipSyncList',
        section: 'lip-sync',
        on: `GET ${LIP_SYNC}`,
        spends: true,
        sample: lipSyncs,
      },
      [
        ...ENVELOPE,
        ['data.items', 'list', 'the newest first'],
        ['data.pagination', 'object', 'which page this is'],
      ],
    ),
  ];
}

function dubbingAnswers(): readonly Behaviour[] {
  const on = `GET ${DUBBING}/{jobId}`;
  return [
    ...answerFields(
      {
        of: 'DubbingAccepted',
        section: 'lip-sync#dubbing',
        on: `POST ${DUBBING}`,
        spends: true,
        sample: async (service) => (await accepted(service, DUBBING)).json(),
      },
      [...ENVELOPE, ...within('data', [...OF_JOB, ['credits_used', 'object', 'by its parts']])],
    ),
    ...answerFields(
      { of: 'DubbingAnswer', section: 'lip-sync#dubbing', on, spends: true, sample: dubbing },
      [...ENVELOPE, ...within('data', [...OF_JOB, ['credits_used', 'object', 'by its parts']])],
    ),
    ...answerFields(
      {
        of: 'DubbingAnswer',
        section: 'lip-sync#dubbing',
        on,
        spends: true,
        isOurChoice: true,
        sample: dubbing,
      },
      within('data', [
        ...OURS,
        ...BILLING,
        ['tempo', 'number', 'how much faster than spoken the voice is'],
        ['tts_audio_url', 'string', 'the speech as it was spoken'],
      ]),
    ),
    ...answerFields(
      {
        of: 'DubbingCredits',
        section: 'lip-sync#dubbing',
        on,
        spends: true,
        sample: async (service) => at(await dubbing(service), 'data.credits_used'),
      },
      CREDITS,
    ),
  ];
}

function lipSync(service: ServiceUnderTest): Promise<unknown> {
  return ended(service, LIP_SYNC);
}

async function lipSyncs(service: ServiceUnderTest): Promise<unknown> {
  await ended(service, LIP_SYNC);
  return (await service.ask(`GET ${LIP_SYNC}`)).json();
}

function dubbing(service: ServiceUnderTest): Promise<unknown> {
  return ended(service, DUBBING);
}
