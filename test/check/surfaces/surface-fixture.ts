import { expect } from 'vitest';
import type { Fixture } from '../../binary/support/fixture.ts';
import { createFixture, paidAudio, VOICE } from '../../binary/support/fixture.ts';
import { audio } from '../../fault-server/faults/wrong-answer.ts';
import type { RecordedRequest } from '../../fault-server/recorded-request.ts';
import type { Rule } from '../../fault-server/script.ts';
import type { Payload } from '../../fault-server/tiny-audio.ts';

export const MODEL = 'vendor-s21pro';

/** Where each surface is asked, and where its body names the format; from the spec, not the program. */
export const SURFACES = {
  v3: { path: '/api/open/v3/speech/tts', formatField: 'format' },
  v2: { path: '/api/open/v2/speech/tts', formatField: 'format' },
  v1: { path: '/api/open/v1/speech/tts', formatField: 'format' },
  'compat-tts': { path: '/v1/tts', formatField: 'format' },
  'compat-speech': { path: '/v1/audio/speech', formatField: 'response_format' },
} as const;
export type SurfaceName = keyof typeof SURFACES;

/** A hosted service that speaks on every surface, and a place to run commands against it. */
export interface SurfaceFixture extends Fixture {
  /** The requests to one surface, in order. */
  requests(surface: SurfaceName): readonly RecordedRequest[];
  /** The JSON body of the one request to a surface. */
  bodyOf(surface: SurfaceName): unknown;
}

/** Sets the scene: `rules` come first. */
export async function surfaceFixture(rules: readonly Rule[] = []): Promise<SurfaceFixture> {
  const sounds = await paidAudio();
  const pcm = {
    ...sounds.mp3,
    type: 'audio/pcm;rate=24000;channels=1',
    bytes: Buffer.alloc(4_800, 1),
  };
  const payloads = new Map<unknown, Payload>(Object.entries({ ...sounds, pcm }));
  const speaking = Object.values(SURFACES).map(({ path, formatField }): Rule => ({
    optional: true,
    method: 'POST',
    path,
    answer: (request) => {
      const format: unknown = Object(JSON.parse(request.body.toString()))[formatField];
      return audio(payloads.get(format) ?? sounds.mp3);
    },
  }));
  const fixture = await createFixture([...rules, ...speaking]);
  const env = { ...fixture.env, FOLEY_VOICE: VOICE };
  const requests: SurfaceFixture['requests'] = (surface) =>
    fixture.server.requests.filter(({ path }) => path === SURFACES[surface].path);
  return {
    ...fixture,
    env,
    run: (args, options = {}) => fixture.run(args, { ...options, env: { ...env, ...options.env } }),
    requests,
    bodyOf(surface) {
      const asked = requests(surface);
      expect(asked).toHaveLength(1);
      return JSON.parse(asked[0]?.body.toString() ?? '');
    },
  };
}
