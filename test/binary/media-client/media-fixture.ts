import sharp from 'sharp';
import type { MediaJobKind } from '../../../src/api/resources/models.ts';
import { answer } from '../../fault-server/http-text.ts';
import type { Answer, Rule } from '../../fault-server/script.ts';
import type { Step } from '../../fault-server/steps.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { filesLeft } from '../support/fixture.ts';
import { json } from '../voices/voice-fixture.ts';

export const JOB_ID = 'job-1';
export const VIDEO_URL = 'https://media.test/clip.mp4';
export const AUDIO_URL = 'https://media.test/speech.wav';

export const PATHS: Readonly<Record<MediaJobKind, string>> = {
  lipsync: '/api/open/v1/media/lip-sync/jobs',
  dub: '/api/open/v1/media/video-dubbing/jobs',
  image: '/api/open/v1/media/images/jobs',
  video: '/api/open/v1/media/videos/jobs',
};

/** A whole command for each kind, without flags of waiting. */
export const CREATES: Readonly<Record<MediaJobKind, readonly string[]>> = {
  lipsync: ['lipsync', 'create', '--video', VIDEO_URL, '--audio', AUDIO_URL],
  dub: ['dub', 'create', 'Hello.', '--video', VIDEO_URL, '-v', 'voice-1'],
  image: ['image', 'create', 'A lighthouse', '-m', 'model-1'],
  video: ['video', 'create', 'A lighthouse', '-m', 'model-1'],
};

export const RESULT_PATH = '/files/result';

/** A small picture and a file of boxes that an MP4 is made of; neither is more than it has to be. */
export const PNG = await sharp({
  create: { width: 6, height: 4, channels: 3, background: '#d02060' },
})
  .png()
  .toBuffer();
export const MP4 = Buffer.concat([
  mp4Box('ftyp', 'isom    isomiso2avc1mp41'),
  mp4Box('moov', 'index'),
  mp4Box('mdat', 'pictures and sound'.repeat(40)),
]);

export function madeBy(kind: MediaJobKind): { readonly bytes: Buffer; readonly type: string } {
  return kind === 'image' ? { bytes: PNG, type: 'image/png' } : { bytes: MP4, type: 'video/mp4' };
}

/** A job as create and poll answer it (docs/api/lip-sync.md, docs/api/lip-sync.md#dubbing and docs/api/media.md#jobs). */
export function job(
  kind: MediaJobKind,
  status: string,
  { code = 200, headers = {}, ...data }: JobMore = {},
): Step[] {
  const body = {
    success: true,
    message: 'm',
    requestId: `r-${status}`,
    quotaRemaining: 90,
    data: {
      id: JOB_ID,
      status,
      progress: status === 'completed' ? 100 : 40,
      credits_used: kind === 'dub' ? { tts: 3, lip_sync: 4, total: 7 } : 7,
      result_url: status === 'completed' ? RESULT_PATH : null,
      somethingNew: { from: 'a later service' },
      ...data,
    },
  };
  return json(body, { 'Retry-After': '0', ...headers }, code);
}

interface JobMore {
  readonly code?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

export function onCreate(kind: MediaJobKind, given: Answer, more: Partial<Rule> = {}): Rule {
  return { method: 'POST', path: PATHS[kind], answer: given, ...more };
}

export function onPoll(kind: MediaJobKind, given: Answer, more: Partial<Rule> = {}): Rule {
  return { method: 'GET', path: `${PATHS[kind]}/${JOB_ID}`, answer: given, ...more };
}

export function onResult(given: Answer, more: Partial<Rule> = {}): Rule {
  return { method: 'GET', path: RESULT_PATH, answer: given, ...more };
}

export function result(kind: MediaJobKind): Step[] {
  const { bytes, type } = madeBy(kind);
  return answer(200, { 'Content-Type': type }, bytes);
}

/** A service whose job is done when it is asked for the second time. */
export function healthy(kind: MediaJobKind): readonly Rule[] {
  const optional = true;
  return [
    onCreate(kind, job(kind, 'pending', { code: 202 }), { optional }),
    onPoll(kind, job(kind, 'processing'), { times: 1, optional }),
    onPoll(kind, job(kind, 'completed'), { optional }),
    onResult(result(kind), { optional }),
  ];
}

/** Every file in the sandbox but the names that shells complete. */
export async function leftIn(sandbox: Sandbox): Promise<string[]> {
  const left = await filesLeft(sandbox);
  return left.filter((name) => !name.startsWith('cache/'));
}

function mp4Box(name: string, content: string): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + content.length, 0);
  head.write(name, 4, 'latin1');
  return Buffer.concat([head, Buffer.from(content, 'latin1')]);
}
