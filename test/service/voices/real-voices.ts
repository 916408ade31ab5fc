import { expect, onTestFinished } from 'vitest';
import { createHibariEngine } from '../../../src/service/engine/hibari/engine.ts';
import { EngineRegistry } from '../../../src/service/engine/speech-engine.ts';
import { HIBARI_WORKER_FILE } from '../../../src/service/worker-file.ts';
import { decodeAudio } from '../../harness/decode-audio.ts';
import type { Sound } from '../../harness/median-pitch.ts';
import { writeWav } from '../../harness/wav.ts';
import { speak as fliteSpeaks } from '../../harness/flite.ts';
import { jsonPost, testService } from '../support/test-service.ts';
import { upload } from './form.ts';

/** Texts in which the pitch of a voice is measured. */
export const TEXTS = [
  'My own voice is in here. Nobody knows where the yellow lemon is.',
  'We bought bread, cheese and a bottle of water in the small shop, then we went home.',
];

/** Makes voices in a service that speaks with the real model. */
export async function realVoices() {
  const engine = createHibariEngine({ workerFile: HIBARI_WORKER_FILE });
  onTestFinished(() => engine.close());
  const { call } = await testService({ engines: new EngineRegistry([engine]) });
  return {
    async clone(recording: Sound) {
      const bytes = writeWav(recording.samples, recording.sampleRate);
      const form = upload({ name: 'Ada' }, [{ name: 'ada.wav', bytes }]);
      const response = await call('/api/open/v1/voices', form);
      expect(response.status).toBe(200);
      return Object(await response.json());
    },
    async design(prompt: string): Promise<readonly Sound[]> {
      const previewText = TEXTS.join(' ');
      const init = jsonPost(
        { prompt, previewText },
        { 'Idempotency-Key': prompt.replaceAll(/\W/g, '-') },
      );
      const response = await call('/api/open/v1/voice-designs', init);
      expect(response.status).toBe(200);
      const { candidates } = Object(await response.json());
      return Promise.all(
        candidates.map(async ({ previewAudioUrl }: { readonly previewAudioUrl: string }) =>
          soundOf(await call(previewAudioUrl)),
        ),
      );
    },
    speak: async (voiceId: unknown, text: string) =>
      soundOf(await call('/api/open/v3/speech/tts', jsonPost({ text, voiceId, format: 'mp3' }))),
  };
}

async function soundOf(response: Response): Promise<Sound> {
  expect(response.status).toBe(200);
  const { channels, sampleRate } = await decodeAudio(new Uint8Array(await response.arrayBuffer()));
  return { samples: channels[0] ?? new Float32Array(0), sampleRate };
}

/** Distance of two frequencies in octaves. */
export function octaves(one: number, other: number): number {
  return Math.abs(Math.log2(one / other));
}

/** A filter of one pole: below 0 the recording gets darker, above 0 brighter. */
export function filtered({ sampleRate, samples }: Sound, amount: number): Sound {
  let last = 0;
  let before = 0;
  const changed = samples.map((sample) => {
    last = amount < 0 ? sample * (1 + amount) - last * amount : sample - before * amount;
    before = sample;
    return last;
  });
  const peak = changed.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  return { samples: changed.map((sample) => (sample * 0.6) / peak), sampleRate };
}

const SAID =
  'The rain has not stopped all day, and nobody is on the road. This is what my voice is like.';

/** A recording by flite, which is independent of the model. */
export function recordingOf(voice: string): Sound {
  return { samples: fliteSpeaks(SAID, { voice }), sampleRate: 16_000 };
}
