import { answerFields } from '../answer-fields.ts';
import type { Behaviour } from '../behaviour.ts';
import { at, claimStatus } from '../claims.ts';
import { requestFields } from '../request-fields.ts';
import type { ServiceUnderTest } from '../service-under-test.ts';
import { ended, IMAGES, MODELS, modelsOf, pictureBody, VIDEOS, withKey } from './picture-calls.ts';

const PROMPT = {
  name: 'prompt',
  what: 'a string of 1 to 4000 characters with something in it',
  isRequired: true,
  refuses: ['', '  ', 'x'.repeat(4_001), 5],
  limits: ['PROMPT_MAX_CHARACTERS'],
};
const MODEL_FIELD = {
  name: 'model',
  what: 'a model of `GET /media/models` of this kind',
  isRequired: true,
  refuses: ['no-such-model', '', 1],
};
const REFERENCES = [
  {
    name: 'image_url',
    what: 'an http or https address (ours)',
    refuses: ['file:///etc/passwd', 'http://user:password@example.com/', '', 7],
  },
  {
    name: 'image_urls',
    what: 'a list of one to four addresses, in order',
    refuses: [[], Array.from({ length: 5 }, () => 'http://example.com/'), 'http://example.com/'],
    limits: ['IMAGE_REFERENCES_MAX'],
  },
];
const SEED = {
  name: 'seed',
  what: 'an integer of 32 bits (ours)',
  refuses: [-1, 4_294_967_296, 0.5, '1'],
};

/** Every field of images and videos (docs/api/media.md#jobs and docs/api/media.md). */
export const pictureFields: readonly Behaviour[] = [...models(), ...answers(), ...requests()];

function models(): readonly Behaviour[] {
  return [
    ...answerFields('MediaModels (ours)', readModels),
    ...answerFields('ImageModel (ours)', async (service) =>
      at(await modelsOf(service, 'image'), '0'),
    ),
    ...answerFields('ImageVariant (ours)', variantOf('image')),
    ...answerFields('VideoModel (ours)', async (service) =>
      at(await modelsOf(service, 'video'), '0'),
    ),
    ...answerFields('VideoVariant (ours)', variantOf('video')),
  ];
}

/** The first variant of the first model of a kind. */
function variantOf(mediaType: 'image' | 'video') {
  return async (service: ServiceUnderTest) =>
    at(await modelsOf(service, mediaType), '0.variants.0');
}

async function readModels(service: ServiceUnderTest): Promise<unknown> {
  const answer = await service.ask(`GET ${MODELS}`);
  claimStatus(answer, 200);
  return answer.json();
}

function answers(): readonly Behaviour[] {
  return [
    ...answerFields('ImageJob (ours)', (service) => ended(service, IMAGES)),
    ...answerFields('VideoJob (ours)', (service) => ended(service, VIDEOS)),
  ];
}

function requests(): readonly Behaviour[] {
  const base = { section: 'media', headers: withKey, claimTaken: () => undefined };
  return [
    ...requestFields(
      {
        ...base,
        id: 'images',
        of: 'ImageRequest',
        on: `POST ${IMAGES}`,
        plain: (service) => pictureBody(service, IMAGES),
      },
      [
        { ...PROMPT, takes: ['x'.repeat(4_000)] },
        MODEL_FIELD,
        ...REFERENCES,
        { ...SEED, takes: [4_294_967_295] },
        {
          name: 'aspect_ratio',
          what: 'one that the catalogue has; `1:1` when it is missing',
          takes: ['16:9'],
          refuses: ['5:1', '', 1],
        },
        {
          name: 'resolution',
          what: '`1k`, `2k` or `4k`, where the model has it; `1k` when it is missing',
          takes: [undefined],
          refuses: ['8k', '', 1],
        },
        {
          name: 'output_format',
          what: '`png`, `jpeg` or `webp` (ours)',
          takes: ['jpeg', 'webp'],
          refuses: ['gif', 'PNG', 1],
        },
      ],
    ),
    ...requestFields(
      {
        ...base,
        id: 'videos',
        of: 'VideoRequest',
        on: `POST ${VIDEOS}`,
        plain: (service) => pictureBody(service, VIDEOS),
      },
      [
        PROMPT,
        MODEL_FIELD,
        ...REFERENCES,
        SEED,
        {
          name: 'seconds',
          what: 'a length that the model has',
          refuses: [0, 0.5, 61, '4', 1.5],
        },
        {
          name: 'size',
          what: 'a size that the model has, such as width x height',
          refuses: ['', '1x1', '9999x9999', 'large', 5],
        },
      ],
    ),
  ];
}
