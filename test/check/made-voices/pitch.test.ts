import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { decodeAudio } from '../../harness/decode-audio.ts';
import type { Sound } from '../../harness/median-pitch.ts';
import { medianPitch } from '../../harness/median-pitch.ts';
import { multipartBody } from '../../harness/multipart-body.ts';
import { referenceVoice } from '../../harness/reference-voice.ts';
import { requireTool } from '../../harness/require-tool.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { writeWav } from '../../harness/wav.ts';
import type { ServingFoley } from '../../binary/support/serve.ts';
import { startServe } from '../../binary/support/serve.ts';
import { CREATE } from './service-state.ts';

const TIME = { timeout: 120_000 };
/** Long enough for its intonation, which moves the pitch of a sentence by 5 %, to even out. */
const TEXT =
  'This is what my voice is like. The rain has not stopped all day, and nobody is on the road. ' +
  'She wrote a letter to her brother, and he answered within the week. ' +
  'Most people here work in the old harbour, and some of them sing.';

/** Median pitches of the references, in hertz. */
const REFERENCES = [110, 200] as const;

async function clone({ baseUrl, apiKey }: ServingFoley, reference: Sound): Promise<string> {
  const value = writeWav(reference.samples, reference.sampleRate);
  const { bytes, headers } = multipartBody([
    { name: 'name', value: 'Clone' },
    { name: 'audioFiles', fileName: 'reference.wav', value },
  ]);
  const response = await fetch(baseUrl + CREATE, {
    method: 'POST',
    headers: { Authorization: `Bearer ${apiKey}`, ...headers },
    body: bytes,
  });
  expect(response.status).toBe(200);
  const {
    notices: [notice],
    voiceId,
  } = Object(await response.json());
  expect(notice).toMatch(/^Simulated, not a clone of the speaker: the built-in voice/);
  return String(voiceId);
}

async function spoken(service: ServingFoley, voiceId: string): Promise<Sound> {
  const body = { text: TEXT, voiceId, format: 'wav' };
  const answer = await service.ask('/api/open/v3/speech/tts', { method: 'POST', body });
  expect(answer.status).toBe(200);
  const { channels, sampleRate } = await decodeAudio(withTrueLength(answer.bytes));
  return { samples: channels[0] ?? new Float32Array(0), sampleRate };
}

/** Who streams a wav cannot know its length. */
function withTrueLength(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt32LE(copy.length - 8, 4);
  copy.writeUInt32LE(copy.length - 44, 40);
  return copy;
}

/** What aubio hears: its median in hertz. */
async function heardByAubio(aubio: string, file: string, sound: Sound): Promise<number> {
  await writeFile(file, writeWav(sound.samples, sound.sampleRate));
  const { stdout } = await execa(aubio, ['pitch', '-m', 'yinfft', '-s', '-40', file]);
  const pitches = stdout
    .split('\n')
    .map((line) => Number(line.trim().split(/\s+/)[1]))
    .filter((hz) => hz > 60 && hz < 500)
    .sort((one, two) => one - two);
  expect(pitches.length).toBeGreaterThan(30);
  return pitches[Math.floor(pitches.length / 2)] ?? 0;
}

/** References with what was spoken by their clones. */
async function clones(): Promise<readonly (readonly [reference: Sound, spoken: Sound])[]> {
  const service = await startServe([], { timeoutMs: TIME.timeout });
  const made: [Sound, Sound][] = [];
  for (const medianHz of REFERENCES) {
    const reference = referenceVoice({ medianHz });
    made.push([reference, await spoken(service, await clone(service, reference))]);
  }
  return made;
}

test(
  'a voice that is cloned from a reference of 110 or of 200 Hz speaks at that median pitch',
  TIME,
  async () => {
    for (const [index, [reference, sound]] of (await clones()).entries()) {
      const wanted = medianPitch(reference);
      expect(Math.abs(wanted / (REFERENCES[index] ?? 0) - 1)).toBeLessThan(0.05);
      expect(Math.abs(medianPitch(sound) / wanted - 1)).toBeLessThan(0.05);
    }
  },
);

test('aubio hears it there too', TIME, async () => {
  const aubio = requireTool('aubio');
  const { out } = await createSandbox();
  for (const [reference, sound] of await clones()) {
    const wanted = await heardByAubio(aubio, path.join(out, 'reference.wav'), reference);
    const heard = await heardByAubio(aubio, path.join(out, 'spoken.wav'), sound);
    expect(Math.abs(heard / wanted - 1)).toBeLessThan(0.05);
  }
});
