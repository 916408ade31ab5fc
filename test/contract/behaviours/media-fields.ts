import { answerFields } from '../answer-fields.ts';
import type { Behaviour } from '../behaviour.ts';
import { at, claimStatus } from '../claims.ts';
import type { RequestField } from '../request-fields.ts';
import { requestFields } from '../request-fields.ts';
import type { ServiceUnderTest } from '../service-under-test.ts';
import { accepted, DUBBING, ended, LIP_SYNC, mediaBody } from './media-calls.ts';

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
  return [
    ...answerFields('LipSyncAccepted', async (service) =>
      (await accepted(service, LIP_SYNC)).json(),
    ),
    ...answerFields('LipSyncAnswer', lipSync),
    ...answerFields('LipSyncJob', async (service) => at(await lipSync(service), 'data')),
    ...answerFields('LipSyncJob (ours)', async (service) => at(await lipSync(service), 'data')),
    ...answerFields('LipSyncResult (ours)', async (service) =>
      at(await lipSync(service), 'data.result'),
    ),
    ...answerFields('LipSyncList', lipSyncs),
  ];
}

function dubbingAnswers(): readonly Behaviour[] {
  return [
    ...answerFields('DubbingAccepted', async (service) =>
      (await accepted(service, DUBBING)).json(),
    ),
    ...answerFields('DubbingAnswer', dubbing),
    ...answerFields('DubbingAnswer (ours)', dubbing),
    ...answerFields('DubbingCredits', async (service) =>
      at(await dubbing(service), 'data.credits_used'),
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
