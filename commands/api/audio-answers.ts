import type { RequestBody } from '../../src/api/request.ts';
import { parseJson, isRecord } from '../../src/api/response.ts';
import type { Call } from './fields.ts';

/** Calls whose good answer is audio (docs/api/README.md). */
const SPEECH = /^(\/api\/open\/v[123]\/speech\/tts|\/v1\/tts|\/v1\/audio\/speech)$/;
const AUDIO_FILE = /\/audio$/;

/**
 * Whether a good answer is audio, as far as that is known before the call. Of v1 speech, `cache`
 * asks for JSON instead.
 */
export function answersWithAudio(
  { method, path }: Pick<Call, 'method' | 'path'>,
  body: RequestBody | undefined,
): boolean {
  if (method === 'GET') return AUDIO_FILE.test(path);
  return method === 'POST' && SPEECH.test(path) && !asksForCache(path, body);
}

function asksForCache(path: string, body: RequestBody | undefined): boolean {
  if (body === undefined || !path.includes('/v1/speech/')) return false;
  const value = parseJson(Buffer.from(body.bytes).toString('utf8'));
  return isRecord(value) && value['cache'] === true;
}
