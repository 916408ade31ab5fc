import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { driveEngine } from '../drive-engine.ts';
import { BUILT_IN, onnxVoice } from './onnx-voice.ts';

const at = (file: string): string => fileURLToPath(new URL(`../../../${file}`, import.meta.url));
const { voiceWeights } = await import(at('engines/hibari/weights.mjs'));

const FENRIR = 'am_fenrir_v2.int8.onnx';
const EMMA = 'bf_emma.int8.onnx';

/** Starts the engine with these files as its models. */
async function engineWith(files: Readonly<Record<string, Buffer>>) {
  const folder = await mkdtemp(path.join(tmpdir(), 'foley hibari '));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    await writeFile(path.join(folder, name), content);
  }
  const speaker = at('dist/hibari-voice.cjs');
  return driveEngine(at('engines/hibari/engine.mjs'), [
    '--model-folder',
    folder,
    '--speaker',
    speaker,
  ]);
}

const bytesOf = (samples: Int16Array | undefined): string => (samples ?? []).join(' ');

describe('the file of a voice', () => {
  it('becomes the weights that foley computes with', () => {
    expect(Buffer.compare(voiceWeights(onnxVoice()), BUILT_IN)).toBe(0);
  });

  it.each([
    [
      'with another network',
      onnxVoice('one', 'm.dec.3.pw1.weight'),
      /The voice has another network: \w+/,
    ],
    [
      'that is no model',
      Buffer.from('<html>not found</html>'),
      /The file is not a whole ONNX model/,
    ],
    ['that is cut off', onnxVoice().subarray(0, 1_000_000), /The file is not a whole ONNX model/],
  ])('%s is refused by name', async (_what, content, reason) => {
    const engine = await engineWith({ [FENRIR]: content });
    const { message, type } = await engine.greet();
    expect(type).toBe('error');
    expect(message).toMatch(reason);
    expect(message).toContain(`Cannot use ${FENRIR}: `);
  });
});

describe('the engine of hibari', () => {
  it('has the voices whose files are there', async () => {
    const engine = await engineWith({ [FENRIR]: onnxVoice(), [EMMA]: onnxVoice() });
    expect(await engine.greet({ maxProtocol: 2 })).toMatchObject({
      license: 'Apache-2.0',
      controls: ['speed', 'pitch'],
      voices: [
        { id: 'emma', name: 'Emma', language: 'en-GB', words: true },
        { id: 'fenrir', name: 'Fenrir', language: 'en-US', words: true },
      ],
    });
    expect(await engine.end()).toBe(0);
  });

  it('speaks the same with a scale for each column of the weights as with one for all', async () => {
    const one = await engineWith({ [FENRIR]: onnxVoice('one') });
    const each = await engineWith({ [FENRIR]: onnxVoice('each') });
    const [first, second] = await Promise.all(
      [one, each].map(async (engine) => {
        await engine.greet({ maxProtocol: 2 });
        return engine.speak('The tide comes in at noon.', 'fenrir');
      }),
    );
    expect(first?.samples.length).toBeGreaterThan(24_000);
    expect(bytesOf(second?.samples)).toBe(bytesOf(first?.samples));
    const text = 'The tide comes in at noon.';
    expect(first?.words.map(({ end, start }) => text.slice(start, end))).toEqual([
      'The',
      'tide',
      'comes',
      'in',
      'at',
      'noon',
    ]);
  });

  it('reads American words for American voices and British ones for British voices', async () => {
    const engine = await engineWith({ [FENRIR]: onnxVoice(), [EMMA]: onnxVoice() });
    await engine.greet({ maxProtocol: 2 });
    const american = await engine.speak('Water.', 'fenrir');
    const british = await engine.speak('Water.', 'emma');
    expect(bytesOf(british.samples)).not.toBe(bytesOf(american.samples));
  });
});
