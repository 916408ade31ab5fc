#!/usr/bin/env node
// Kokoro 82M as an engine for foley: `node engine.mjs --model-folder DIR` reads requests from stdin and
// writes speech to stdout (docs/engines.md). `--reader` names the file english-reader.cjs of foley; `foley engine add`
// puts it beside this folder.

import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { endProcess, loadModel } from '../parts/model.mjs';
import { serve } from '../parts/protocol.mjs';
import { loadAmericanReader } from './american.mjs';
import { loadEspeakReaders } from './espeak-reader.mjs';
import { SAMPLE_RATE, speech } from './speech.mjs';
import { levelOf, readStyles, voicesIn } from './voices.mjs';

const VERSION = '1.0.0';
const MODEL = 'kokoro-v1.0.int8.onnx';

/** The node of the model that computes the durations of the sounds. */
const DURATIONS = 'Clip';

const { 'model-folder': folder, reader } = parseArgs({
  options: {
    'model-folder': { type: 'string' },
    reader: {
      type: 'string',
      default: fileURLToPath(new URL('../dist/english-reader.cjs', import.meta.url)),
    },
  },
}).values;
const voicesFolder = path.join(folder ?? '.', 'voices');
const kokoroVoices = new Map();
const styles = new Map();
const readers = new Map();
let model;

await serve({
  async load(report) {
    if (folder === undefined) throw new Error('--model-folder is missing');
    const voices = await voicesIn(voicesFolder);
    if (voices.length === 0) throw new Error(`${voicesFolder} has no voices`);
    for (const voice of voices) kokoroVoices.set(voice.id, voice);
    report('loading the phonemes', 0);
    await loadReaders(voices);
    report('loading the model', 0.3);
    model = await loadModel(path.join(folder, MODEL), { expose: [DURATIONS], floats: true });
    return {
      name: 'kokoro',
      version: VERSION,
      license: voices.every(isAmerican) ? 'Apache-2.0' : 'Apache-2.0 AND GPL-3.0-or-later',
      models: [{ id: 'local-kokoro', name: 'Kokoro 82M' }],
      controls: ['speed'],
      voices: voices.map(({ id, name, language }) => {
        const { phonemes } = readers.get(id);
        return { id, name, language, sampleRate: SAMPLE_RATE, words: true, phonemes };
      }),
    };
  },
  async *speak({ text, voice: { id }, speed, pronunciations }) {
    const voice = kokoroVoices.get(id);
    if (!styles.has(id)) styles.set(id, await readStyles(voicesFolder, id));
    yield* speech(
      { model, read: readers.get(id).read },
      { text, voice, speed, pronunciations, styleFor: styles.get(id), level: levelOf(id) },
    );
  },
});
endProcess();

/** Loads espeak-ng (GPL) only for voices that need it: without them, it is not installed. */
async function loadReaders(voices) {
  const american = voices.some(isAmerican) ? await loadAmericanReader(reader) : undefined;
  const espeakReader = voices.every(isAmerican) ? undefined : await loadEspeakReaders();
  for (const voice of voices) {
    readers.set(voice.id, isAmerican(voice) ? american : espeakReader(voice));
  }
}

function isAmerican({ language }) {
  return language === 'en-US';
}
