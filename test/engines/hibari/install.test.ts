import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { system } from '../../../src/system/system.ts';
import { addNaturalEngine, removeNaturalEngine } from '../../../src/engines/add-natural-engine.ts';
import { engineInspector } from '../../../src/engines/inspector.ts';
import { ADAPTERS_FOLDER } from '../../../src/engines/install.ts';
import type { EnginePart } from '../../../src/engines/natural-engines.ts';
import { NATURAL_ENGINES } from '../../../src/engines/natural-engines.ts';
import { engineLauncher } from '../../../src/service/engine/process/launch-engine.ts';
import { createProcessEngine } from '../../../src/service/engine/process/process-engine.ts';
import type { EngineVoice, SpeechEngine } from '../../../src/service/engine/speech-engine.ts';
import { EngineRegistry } from '../../../src/service/engine/speech-engine.ts';
import { HIBARI_VOICES } from '../../../src/service/engine/hibari/cast.ts';
import { createCatalogue, describeVoice } from '../../../src/service/voices/catalogue.ts';
import { failureOf } from '../../files/file-simulation.ts';
import type { Rule } from '../../fault-server/script.ts';
import { cutAfter, filesIn, listed, served } from '../model-files.ts';
import { listedIn, naturalSimulation } from '../natural-simulation.ts';
import { onnxVoice } from './onnx-voice.ts';

const FENRIR = 'hibari/am_fenrir_v2.int8.onnx';
const EMMA = 'hibari/bf_emma.int8.onnx';
const CONTENT = onnxVoice('each');

/** A server whose files all have the weights of the built-in voice; the engine itself is the real one. */
const simulation = (rules: readonly Rule[] = []) =>
  naturalSimulation(rules, {
    adapterFolder: ADAPTERS_FOLDER,
    inspect: engineInspector({
      env: process.env,
      system,
      signal: new AbortController().signal,
    }),
  });

const partOf = (file: string): EnginePart => ({
  what: file,
  license: 'Apache-2.0',
  source: 'here',
  bytes: CONTENT.length,
  files: [listed(file, CONTENT)],
});

const filesOf = async (...voices: readonly string[]) =>
  (await NATURAL_ENGINES.hibari.parts(voices, [], nothing)).flatMap(({ files }) => files);

const engineOf = (
  voices: readonly EngineVoice[],
  models?: SpeechEngine['models'],
): SpeechEngine => ({
  name: 'hibari',
  voices,
  ...(models === undefined ? {} : { models }),
  warmUp: async () => undefined,
  async *synthesize() {
    yield { samples: new Float32Array(1), sampleRate: 24_000 };
  },
  close: async () => undefined,
});
const nothing = (): Promise<Uint8Array> => Promise.reject(new Error('nothing to read'));

describe('adding the other voices of hibari', () => {
  it('resumes the download, installs no package, speaks, and is removed', async () => {
    const { deps, installed, server } = await simulation([
      { times: 1, answer: (request) => cutAfter(CONTENT, request, 3_000_000) },
      { answer: (request) => served(CONTENT, request) },
    ]);

    const added = await addNaturalEngine('hibari', [partOf(FENRIR), partOf(EMMA)], deps);

    expect(added).toMatchObject({
      name: 'hibari',
      license: 'Apache-2.0',
      voices: [
        { id: 'emma', language: 'en-GB' },
        { id: 'fenrir', language: 'en-US' },
      ],
    });
    expect(installed).toEqual([]);
    expect(server.requests.map((one) => one.header('range'))).toEqual([
      undefined,
      'bytes=3000000-',
      undefined,
    ]);
    const launch = engineLauncher({ env: process.env, nodePath: process.execPath });
    const engine = createProcessEngine({ registration: added, launch });
    const request = { text: 'It cost $5.', voice: 'fenrir', speed: 1, pitch: 0, isTimed: true };
    const words: string[] = [];
    let count = 0;
    for await (const chunk of engine.synthesize(request, new AbortController().signal)) {
      count += chunk.samples.length;
      words.push(...(chunk.words ?? []).map(({ end, start }) => request.text.slice(start, end)));
    }
    await engine.close();
    expect(count).toBeGreaterThan(12_000);
    expect(words).toEqual(['It', 'cost', '$5']);

    const { deleted } = await removeNaturalEngine('hibari', deps);
    expect(deleted).toEqual([added.cwd, path.join(deps.modelsFolder, 'hibari')]);
    expect(await listedIn(deps)).toEqual([]);
    expect(existsSync(added.cwd)).toBe(false);
  });

  it('takes the files from a folder, and nothing that is stored', async () => {
    const { deps, server } = await simulation();
    const folder = path.join(deps.modelsFolder, '../files');
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, path.basename(FENRIR)), CONTENT);
    const offline = { ...deps, source: { kind: 'folder', path: folder } } as const;
    const first = await addNaturalEngine('hibari', [partOf(FENRIR)], offline);
    const again = await addNaturalEngine('hibari', [partOf(FENRIR)], deps);
    expect(again.cwd).toBe(first.cwd);
    expect(server.requests).toEqual([]);
  });

  it('refuses a file with another SHA-256 than that of the publisher', async () => {
    const other = Buffer.alloc(8_031_158);
    const { deps } = await simulation([{ answer: (request) => served(other, request) }]);
    const parts = await NATURAL_ENGINES.hibari.parts(['fenrir'], [], nothing);
    expect(parts[0]?.bytes).toBe(other.length);
    expect(await failureOf(addNaturalEngine('hibari', parts, deps))).toMatchObject({
      exitCode: 25,
      message: expect.stringContaining('its SHA-256 is'),
    });
    expect(await filesIn(deps)).toEqual([]);
    expect(await readdir(deps.enginesFolder).catch(() => [])).not.toContain('engines.json');
  });

  it('has four voices, or those that are chosen', async () => {
    const all = await filesOf();
    expect(all.map(({ path: file }) => file).toSorted()).toEqual([
      'hibari/af_kore.int8.onnx',
      FENRIR,
      EMMA,
      'hibari/bm_fable.int8.onnx',
    ]);
    for (const { sha256, url } of all) {
      expect(sha256).toMatch(/^[0-9a-f]{64}$/);
      expect(url).toMatch(/^https:\/\/\S+\/voices\/[\w.]+\.onnx$/);
    }
    expect(await filesOf('kore', 'kore')).toHaveLength(1);
    await expect(filesOf('fenir')).rejects.toMatchObject({
      message: 'hibari has no voice "fenir"',
      hint: 'Did you mean fenrir?',
    });
  });
});

test('the added voices stand beside the built-in ones, and are described', () => {
  const emma = { id: 'emma', name: 'Emma', language: 'en-GB', sampleRate: 24_000, pitch: true };
  const engines = new EngineRegistry([
    engineOf(HIBARI_VOICES),
    engineOf([emma], [{ id: 'local-hibari' }]),
  ]);
  const { voices } = createCatalogue({ engines, unavailableModels: [] });
  expect(voices.slice(0, 3).map(({ name }) => name)).toEqual(['Clara', 'Emma', 'Martin']);
  expect(voices.map((voice) => describeVoice(voice)).slice(0, 2)).toEqual([
    'adult woman; warm, clear; natural; American English',
    'adult woman; a small copy of bf_emma of Kokoro; natural; British English',
  ]);
  expect(voices[1]?.speaker.voices).toEqual([emma]);
  expect(engines.find('hibari', 'varied:1/1/1/0')?.engine.voices).toBe(HIBARI_VOICES);
});
