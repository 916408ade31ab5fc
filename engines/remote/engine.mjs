#!/usr/bin/env node
// Servers with an OpenAI-shaped `/v1/audio/speech` as an engine for foley: `node engine.mjs --url URL [--url URL…]` reads
// requests from stdin and writes speech to stdout (docs/engines.md#servers).

import { readFile, rename, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { soundIn, toPcm } from '../parts/audio.mjs';
import { wholeSentences } from '../parts/chunks.mjs';
import { COMMON_LUFS, loudness } from '../parts/level.mjs';
import { serve, Unspeakable } from '../parts/protocol.mjs';
import { ask, parsed, ServerError } from './requests.mjs';
import { Servers } from './servers.mjs';
import { readSound, resampled } from './sound.mjs';
import { listVoices, voicesIn } from './voices.mjs';

const VERSION = '1.0.0';

/** Spoken once by each voice to measure its loudness. */
const MEASURED =
  'The old lighthouse stood on the cliff, and its lamp turned slowly through the night.';

/** Silence that is left around the speech of a sentence, and the pauses between sentences. */
const MARGIN_MS = 60;
const SENTENCE_PAUSE_MS = 240;
const PARAGRAPH_PAUSE_MS = 540;

/** Smaller samples are no sound (-54 dB). */
const AUDIBLE = 0.002;

/** The most bytes of a second of sound: 48,000 samples of 4 bytes in two channels. */
const BYTES_PER_SECOND = 48_000 * 4 * 2;

const { values: options } = parseArgs({
  options: {
    url: { type: 'string', multiple: true, default: [] },
    model: { type: 'string', default: 'tts-1' },
    voice: { type: 'string', multiple: true, default: [] },
    'voices-from': { type: 'string' },
    'key-file': { type: 'string' },
    'max-concurrent': { type: 'string', default: '1' },
    language: { type: 'string', default: 'en' },
  },
});

/**
 * @typedef {import('./sound.mjs').Sound} Sound
 * @typedef {import('./servers.mjs').Server} Server
 */

const servers = new Servers(
  options.url.map((url) => new URL(url)),
  Number(options['max-concurrent']),
);
/** @type {string | undefined} */
let key;
/** @type {Map<string, string>} What the servers call the voices, by their ids. */
const names = new Map();
/** @type {Map<string, Promise<number>>} What brings the voices to the common level, in decibels, by their ids. */
const gains = new Map();
let sampleRate = 0;
/** What earlier processes measured, in the folder of this installation, which `foley engine add` makes anew. */
const LEVELS = new URL('levels.json', import.meta.url);
/** @type {Record<string, number>} The gains that are in the file. */
const measuredGains = {};

await serve({
  async load(report) {
    if (options['key-file'] !== undefined) {
      key = (await readFile(options['key-file'], 'utf8')).trim();
    }
    report('asking the servers for their voices');
    const { signal } = new AbortController();
    const { language } = options;
    const listed =
      options.voice.length > 0
        ? voicesIn(options.voice, language)
        : await servers.run(({ url }, over) => {
            const read = async (/** @type {string} */ path) => {
              const call = { key, signal: over, maxBytes: 1 << 22 };
              return (await ask(new URL(path, url), call)).body;
            };
            return listVoices(read, options['voices-from'], language);
          }, signal);
    const [first] = listed;
    if (first === undefined) throw new Error('the servers have no voice with a usable name');
    for (const { id, name } of listed) names.set(id, name);
    if (!(await readLevels())) {
      report(`asking for a sentence of ${first.name}`);
      const sample = await spoken(first.name, MEASURED, 1, signal);
      sampleRate = sample.sampleRate;
      await keepGain(first.id, gainFor(sample));
    }
    return {
      name: 'remote',
      version: VERSION,
      license: 'LicenseRef-remote',
      controls: ['speed'],
      maxConcurrent: Math.min(16, Math.max(2, servers.capacity)),
      voices: listed.map(({ id, language: spokenLanguage, title }) => {
        return {
          id,
          ...(title !== id && { name: title }),
          language: spokenLanguage,
          sampleRate,
          words: false,
        };
      }),
    };
  },
  async *speak({ text, voice, speed, signal }) {
    const name = names.get(voice.id) ?? voice.id;
    const gain = await gainOf(voice.id, name, signal);
    const sentences = wholeSentences(text, voice.language).filter(({ text: part }) =>
      /[\p{L}\p{N}]/u.test(part),
    );
    let isAudible = false;
    let pauseMs = 0;
    const failed = new AbortController();
    const both = AbortSignal.any([signal, failed.signal]);
    /** @type {Promise<Sound>[]} */
    const coming = [];
    const next = () => {
      const sentence = sentences[coming.length];
      if (sentence === undefined) return;
      const sound = spoken(name, sentence.text.trim(), speed, both);
      sound.catch(() => undefined);
      coming.push(sound);
    };
    try {
      while (coming.length < Math.min(sentences.length, servers.capacity)) next();
      for (const [index, sentence] of sentences.entries()) {
        const sound = await coming[index]?.catch((/** @type {unknown} */ error) => {
          // A part that the voice cannot speak, for example of another script.
          if (error instanceof ServerError && error.kind === 'silent') return undefined;
          throw error;
        });
        next();
        if (sound === undefined) continue;
        const samples = resampled(sound, sampleRate);
        const { from, to } = soundIn(samples, sampleRate, MARGIN_MS);
        if (from < to) {
          isAudible = true;
          if (index > 0) yield silence(pauseMs);
          yield { samples: toPcm(samples.subarray(from, to), gain), words: [] };
        }
        pauseMs = sentence.endsParagraph ? PARAGRAPH_PAUSE_MS : SENTENCE_PAUSE_MS;
      }
    } finally {
      failed.abort();
    }
    if (!isAudible) throw new Unspeakable('the voice said nothing of the text');
    // What the service speaks next may continue the text.
    yield silence(pauseMs);
  },
});
// The connections of the agents stay open.
process.exit();

/** @param {number} ms */
function silence(ms) {
  return { samples: new Int16Array(Math.round((ms * sampleRate) / 1000)), words: [] };
}

/**
 * Lets a server speak a text.
 * @param {string} voice what the server calls the voice
 * @param {string} input
 * @param {number} speed
 * @param {AbortSignal} signal
 * @returns {Promise<Sound>}
 */
function spoken(voice, input, speed, signal) {
  const maxBytes = BYTES_PER_SECOND * (30 + 3 * input.length);
  return servers.run(async (server, over) => {
    const { url } = server;
    /** @param {'pcm' | 'wav'} format */
    const speech = async (format) => {
      const json = {
        model: options.model,
        input,
        voice,
        response_format: format,
        ...(speed !== 1 && { speed }),
      };
      const answer = await ask(new URL('audio/speech', url), { json, key, signal: over, maxBytes });
      const sound = readSound(answer, url.origin, format);
      requireSound(sound, url.origin, input);
      server.format = format;
      return sound;
    };
    if (server.format !== undefined) return speech(server.format);
    return speech('wav').catch((/** @type {unknown} */ error) => {
      if (!(error instanceof ServerError) || error.kind !== 'refused') throw error;
      // The answer to the first request counts: the second one only asks whether raw samples are possible.
      return speech('pcm').catch(() => {
        throw error;
      });
    });
  }, signal);
}

/**
 * @param {Sound} sound
 * @param {string} origin
 * @param {string} input
 */
function requireSound({ samples }, origin, input) {
  for (const sample of samples) {
    if (!Number.isFinite(sample)) {
      throw new ServerError(`${origin} sent audio that is not a number`, 'broken');
    }
  }
  if (samples.every((one) => Math.abs(one) < AUDIBLE)) {
    throw new ServerError(`${origin} sent silence for "${input.slice(0, 40)}"`, 'silent');
  }
}

/**
 * @param {string} id
 * @param {string} name
 * @param {AbortSignal} signal
 */
async function gainOf(id, name, signal) {
  const known = gains.get(id);
  if (known !== undefined) return known;
  const measured = spoken(name, MEASURED, 1, signal).then((sample) => {
    return keepGain(id, gainFor(sample));
  });
  gains.set(id, measured);
  // The next request measures again.
  measured.catch(() => gains.delete(id));
  return measured;
}

/** Reads what earlier processes measured. Returns false if there is nothing. */
async function readLevels() {
  const text = await readFile(LEVELS, 'utf8').catch(() => '');
  /** @type {{ readonly sampleRate?: unknown, readonly gains?: unknown }} */
  const { sampleRate: rate, gains: known } = Object(parsed(text));
  if (typeof rate !== 'number' || !(rate >= 8_000 && rate <= 48_000)) return false;
  sampleRate = rate;
  for (const [id, gain] of Object.entries(Object(known))) {
    if (typeof gain !== 'number') continue;
    measuredGains[id] = gain;
    gains.set(id, Promise.resolve(gain));
  }
  return true;
}

/**
 * Keeps the gain of a voice for later processes.
 * @param {string} id
 * @param {number} gain
 */
async function keepGain(id, gain) {
  measuredGains[id] = gain;
  gains.set(id, Promise.resolve(gain));
  const next = new URL(`levels-${process.pid}.json`, LEVELS);
  try {
    await writeFile(next, JSON.stringify({ sampleRate, gains: measuredGains }));
    await rename(next, LEVELS);
  } catch {
    // In a folder that is read only, each process measures again.
  }
  return gain;
}

/** @param {Sound} sound */
function gainFor({ sampleRate: rate, samples }) {
  const level = loudness(samples, rate);
  return Number.isFinite(level) ? COMMON_LUFS - level : 0;
}
