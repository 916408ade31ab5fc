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
import { isAmerican, levelOf, readStyles, voicesIn } from './voices.mjs';

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
/** @type {Map<string, import('./units.mjs').Reader & { voice: import('./voices.mjs').KokoroVoice }>} Voices by their ids. */
const speakers = new Map();
/** @type {Map<string, import('./speech.mjs').StyleFor>} Styles of the voices that have spoken. */
const styles = new Map();
/** @type {import('../parts/model.mjs').Model | undefined} */
let model;

await serve({
  async load(report) {
    if (folder === undefined) throw new Error('--model-folder is missing');
    const voices = await voicesIn(voicesFolder);
    if (voices.length === 0) throw new Error(`${voicesFolder} has no voices`);
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
      voices: Array.from(speakers.values(), ({ voice: { id, language }, phonemes }) => {
        return { id, language, sampleRate: SAMPLE_RATE, words: true, phonemes };
      }),
    };
  },
  async *speak({ text, voice: { id }, speed, pronunciations }) {
    const speaker = speakers.get(id);
    if (speaker === undefined || model === undefined) throw new Error(`${id} is not loaded`);
    const { read, voice } = speaker;
    const styleFor = styles.get(id) ?? (await readStyles(voicesFolder, id));
    styles.set(id, styleFor);
    yield* speech(
      { model, read },
      { text, voice, speed, pronunciations, styleFor, level: levelOf(id) },
    );
  },
});
endProcess();

/**
 * Loads espeak-ng (GPL) only for voices that need it: without them, it is not installed.
 * @param {readonly import('./voices.mjs').KokoroVoice[]} voices
 */
async function loadReaders(voices) {
  let american;
  let espeakReader;
  for (const voice of voices) {
    if (voice.espeak === undefined) {
      american ??= await loadAmericanReader(reader);
      speakers.set(voice.id, { voice, ...american });
    } else {
      espeakReader ??= await loadEspeakReaders();
      speakers.set(voice.id, { voice, ...espeakReader(voice.language, voice.espeak) });
    }
  }
}
