import type { Pending } from './behaviour.ts';

const MEDIA = 'Pictures that speak: lip sync, dubbing, images and video, on both sides';
const V1 = '/api/open/v1';

/** What the spec has and the embedded service has not yet; nothing of it is faked. */
export const pending: readonly Pending[] = [
  ...missing(MEDIA, '4.7', [
    [`POST ${V1}/media/lip-sync/jobs`, 'Create a lip-sync job (2.6, 3.4)'],
    [`GET ${V1}/media/lip-sync/jobs`, 'List them'],
    [`GET ${V1}/media/lip-sync/jobs/{jobId}`, 'One of them'],
    [
      `POST ${V1}/media/video-dubbing/jobs`,
      'Dub a video (2.7); `fit_audio_to_video` within 0.5x to 2x',
    ],
    [`GET ${V1}/media/video-dubbing/jobs/{jobId}`, 'How far it is'],
  ]),
  ...missing(MEDIA, '7.3', [
    [
      'media',
      'Import errors: 413, 415, 422, 503 and 504 with `details`, `ERR_LIP_SYNC_MEDIA_DOWNLOAD_TIMEOUT`',
    ],
  ]),
  ...missing(MEDIA, '9', [
    ['POST /api/open/lip-sync/create', 'The older path of lip sync'],
    ['GET /api/open/lip-sync/list', 'The older path of its list'],
    ['GET /api/open/lip-sync/query', 'The older path of its poll'],
  ]),
];

function missing(
  subject: string,
  section: string,
  statements: readonly (readonly [on: string, what: string])[],
): readonly Pending[] {
  return statements.map(([on, what]) => ({
    id: `pending.${section}.${on.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`,
    section,
    on,
    what,
    subject,
  }));
}
