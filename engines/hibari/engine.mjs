#!/usr/bin/env node
// Further voices of hibari, the built-in voice of foley, as an engine: `node engine.mjs --model-folder DIR` reads requests
// from stdin and writes speech to stdout (docs/engines.md). `--speaker` names the file hibari-voice.cjs of foley;
// `foley engine add` puts it beside this folder.

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { toPcm } from '../parts/audio.mjs';
import { COMMON_LUFS, loudness } from '../parts/level.mjs';
import { messageOf, serve, Unspeakable } from '../parts/protocol.mjs';
import { voicesIn } from './voices.mjs';
import { voiceWeights } from './weights.mjs';

const VERSION = '1.0.0';
const SAMPLE_RATE = 24_000;

/** Spoken once by each voice to measure its loudness. */
const MEASURED =
  'The old lighthouse stood on the cliff, and its lamp turned slowly through the night.';

const { 'model-folder': folder, speaker } = parseArgs({
  options: {
    'model-folder': { type: 'string' },
    speaker: {
      type: 'string',
      default: fileURLToPath(new URL('../dist/hibari-voice.cjs', import.meta.url)),
    },
  },
}).values;

/** @type {Map<string, Uint8Array>} Weights by the id of the voice. */
const weights = new Map();
/** @type {Map<string, ReturnType<typeof openSpeaker>>} Open voices by their ids. */
const speakers = new Map();

await serve({
  async load(report) {
    if (folder === undefined) throw new Error('--model-folder is missing');
    const voices = await voicesIn(folder);
    if (voices.length === 0) throw new Error(`${folder} has no voices`);
    for (const [index, { file, id }] of voices.entries()) {
      report(`loading ${id}`, index / voices.length);
      weights.set(id, await readWeights(path.join(folder, file)));
    }
    return {
      name: 'hibari',
      version: VERSION,
      license: 'Apache-2.0',
      models: [{ id: 'local-hibari', name: 'hibari' }],
      controls: ['speed', 'pitch'],
      voices: voices.map(({ id, language, name }) => {
        return { id, name, language, sampleRate: SAMPLE_RATE, scripts: ['Latn'], words: true };
      }),
    };
  },
  async *speak({ text, voice, speed, pitch }) {
    const open = speakers.get(voice.id) ?? openSpeaker(voice);
    speakers.set(voice.id, open);
    const { gain, speak } = open;
    let isSpoken = false;
    for (const { samples, words } of speak({ text, speed, pitch })) {
      isSpoken = true;
      yield { samples: toPcm(samples, gain), words };
      // A cancelled request ends between two sentences.
      await setImmediate();
    }
    if (!isSpoken) throw new Unspeakable(`The text has no word that ${voice.id} can speak.`);
  },
});
process.exit();

/** @param {string} file */
async function readWeights(file) {
  try {
    return voiceWeights(await readFile(file));
  } catch (error) {
    throw new Error(`Cannot use ${path.basename(file)}: ${messageOf(error)}`, { cause: error });
  }
}

/** @param {import('../parts/protocol.mjs').Voice} voice */
function openSpeaker({ id, language }) {
  const own = weights.get(id);
  if (own === undefined) throw new Error(`The voice ${id} is not loaded`);
  /** @type {typeof import('../../src/service/engine/hibari/added-voice.ts')} */
  const { openVoice } = createRequire(import.meta.url)(speaker);
  const speak = openVoice(own, language === 'en-GB');
  const [measured] = speak({ text: MEASURED, speed: 1, pitch: 0 });
  if (measured === undefined) throw new Error(`The voice ${id} speaks nothing`);
  return { speak, gain: COMMON_LUFS - loudness(measured.samples, SAMPLE_RATE) };
}
