#!/usr/bin/env node
// Piper voices as an engine for foley: `node engine.mjs --model-folder DIR` reads requests from stdin
// and writes speech to stdout (docs/engines.md).

import { parseArgs } from 'node:util';
import { endProcess, loadModel } from '../parts/model.mjs';
import { loadPhonemes } from '../parts/phonemes.mjs';
import { serve } from '../parts/protocol.mjs';
import { DURATIONS, speech } from './speech.mjs';
import { findVoices } from './voices.mjs';

const VERSION = '1.0.0';

/**
 * @typedef {import('../parts/model.mjs').Model} Model
 * @typedef {import('../parts/phonemes.mjs').Phonemize} Phonemize
 * @typedef {import('./voices.mjs').PiperVoice} PiperVoice
 */

/**
 * One thread speaks ten times as fast as the speech lasts, and gives the same samples on every number of
 * processors. Without optimization the models load in two thirds of the time, and speak as fast.
 * @type {import('../parts/model.mjs').Options}
 */
const LOADING = { expose: [DURATIONS], optimization: 'disabled', threads: 1 };

/** Models that stay in memory. A voice of medium quality needs about 200 MB. */
const MAX_MODELS = 2;

const { 'model-folder': folder } = parseArgs({
  options: { 'model-folder': { type: 'string' } },
}).values;
/** @type {Map<string, PiperVoice>} */
const voices = new Map();
/** @type {Map<string, Promise<Model>>} Models by file, the last used one last. */
const models = new Map();
/** @type {Phonemize | undefined} */
let phonemize;

await serve({
  async load(report) {
    if (folder === undefined) throw new Error('--model-folder is missing');
    const found = await findVoices(folder, (reason) => process.stderr.write(`${reason}\n`));
    for (const voice of found) voices.set(voice.id, voice);
    const isOneModel = new Set(found.map(({ file }) => file)).size === 1;
    report('loading the model', 0);
    const [first] = found;
    [phonemize] = await Promise.all([
      loadPhonemes(),
      isOneModel && first !== undefined ? modelOf(first) : undefined,
    ]);
    return {
      name: 'piper',
      version: VERSION,
      license: 'GPL-3.0-or-later',
      models: [{ id: 'local-piper', name: 'Piper' }],
      controls: ['speed'],
      voices: found.map(({ id, language, sampleRate, scripts, words }) => {
        return { id, language, sampleRate, ...(scripts !== undefined && { scripts }), words };
      }),
    };
  },
  async *speak({ text, voice: { id }, speed }) {
    const voice = voices.get(id);
    if (voice === undefined || phonemize === undefined) throw new Error(`${id} is not loaded`);
    yield* speech({ model: await modelOf(voice), phonemize }, { text, voice, speed });
  },
});
endProcess();

/** @param {PiperVoice} voice */
async function modelOf({ file }) {
  const model = models.get(file) ?? loadModel(file, LOADING);
  models.delete(file);
  models.set(file, model);
  const [oldest] = models;
  if (models.size > MAX_MODELS && oldest !== undefined) {
    const [unusedFile, unused] = oldest;
    models.delete(unusedFile);
    await (await unused).close();
  }
  try {
    return await model;
  } catch (error) {
    models.delete(file);
    throw error;
  }
}
