import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';
import { MEDIA_SECONDS_MAX } from '../../../src/contract/limits.ts';
import { at, claimStatus } from '../claims.ts';
import { plainBody, polledToEnd } from '../facts.ts';
import { wavHead } from '../../harness/wav.ts';
import type { Answer, ServiceUnderTest } from '../service-under-test.ts';
import { NotApplicable } from '../service-under-test.ts';

export const LIP_SYNC = '/api/open/v1/media/lip-sync/jobs';
export const DUBBING = '/api/open/v1/media/video-dubbing/jobs';

export type MediaPath = typeof LIP_SYNC | typeof DUBBING;

/** What the server of the rows gives besides the fixtures. */
const ODD: Readonly<Record<string, (response: ServerResponse) => void>> = {
  'page.html': (response) => response.end('<!doctype html><title>No media</title>'),
  'playlist.mp4': (response) => response.end('#EXTM3U\n#EXTINF:10,\nfile:///etc/passwd\n'),
  'to-private': (response) => redirect(response, 'http://10.0.0.1/video.mp4'),
  'to-file': (response) => redirect(response, 'file:///etc/passwd'),
  'huge.mp4': (response) => response.writeHead(200, { 'Content-Length': 2 ** 40 }).write('x'),
  'long.wav': (response) => response.end(longSound(MEDIA_SECONDS_MAX + 1)),
  'half-an-hour.wav': (response) => response.end(longSound(MEDIA_SECONDS_MAX)),
  'ten-minutes.wav': (response) => response.end(longSound(600)),
  'bomb.wav': (response) =>
    response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync(Buffer.alloc(2 ** 27))),
};

/** Silence at a thousand samples a second. */
function longSound(seconds: number): Buffer {
  const bytes = seconds * 1_000;
  const head = wavHead(bytes, { sampleRate: 1_000, bits: 8 });
  return Buffer.concat([head, Buffer.alloc(bytes, 128)]);
}

/** The address of files that a service on this machine can fetch; others cannot. */
export async function mediaAt(service: ServiceUnderTest, name: string): Promise<string> {
  if (!service.isOurs) throw new NotApplicable('it cannot fetch files of this machine');
  return `${await service.once('a server of media', serveMedia)}/${name}`;
}

async function serveMedia(): Promise<string> {
  const server = createServer((request, response) => void give(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  server.unref();
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new TypeError('no port');
  return `http://127.0.0.1:${address.port}`;
}

async function give({ url = '' }: IncomingMessage, response: ServerResponse): Promise<void> {
  const name = url.slice(1);
  const odd = ODD[name];
  if (odd !== undefined) return odd(response);
  try {
    response.end(await readFile(new URL(`../../fixtures/media/${name}`, import.meta.url)));
  } catch {
    response.writeHead(404).end();
  }
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(302, { Location: location }).end();
}

/** A body that is good. */
export async function mediaBody(
  service: ServiceUnderTest,
  path: MediaPath,
): Promise<Record<string, unknown>> {
  const video_url = await mediaAt(service, 'h264.mp4');
  if (path === LIP_SYNC) return { video_url, audio_url: await mediaAt(service, 'beeps.m4a') };
  const { text, voiceId } = await plainBody(service);
  return { video_url, text, reference_id: voiceId };
}

/** The answer of a create that is accepted. */
export async function accepted(
  service: ServiceUnderTest,
  path: MediaPath,
  { more = {}, to = path }: { readonly more?: object; readonly to?: string } = {},
): Promise<Answer> {
  const body = { ...(await mediaBody(service, path)), ...more };
  const answer = await service.ask(`POST ${to}`, { body });
  claimStatus(answer, 200, 201, 202);
  return answer;
}

/** A job that has ended, as it is answered, made once. */
export async function ended(service: ServiceUnderTest, path: MediaPath): Promise<unknown> {
  return service.once(`an ended job of ${path}`, async () => {
    const id = String(at((await accepted(service, path)).json(), 'data.id'));
    return endOf(service, path, id);
  });
}

/** Polls a job of lip sync, dubbing, images or videos to its end. */
export function endOf(service: ServiceUnderTest, path: string, id: string): Promise<unknown> {
  return polledToEnd(service, `${path}/${id}`, 'data.status');
}
