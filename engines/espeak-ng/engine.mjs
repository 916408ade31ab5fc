#!/usr/bin/env node
// espeak-ng as an engine for foley: reads requests from stdin and writes speech to stdout
// (docs/engines.md). Exits when stdin ends.

import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { loadEspeak, SAMPLE_RATE } from '../parts/espeak.mjs';
import { messageOf } from '../parts/protocol.mjs';
import { speech, Unspeakable } from './speech.mjs';
import { scriptsOf, VOICES } from './voices.mjs';

const VERSION = '1.0.0';

/** Duration of the speech in an audio message. */
const MESSAGE_MS = 100;
const MESSAGE_SAMPLES = (SAMPLE_RATE * MESSAGE_MS) / 1000;

/**
 * @typedef {Exclude<import('../parts/protocol.mjs').HostMessage, { controls: unknown }>} HostMessage
 * The messages of protocol version 1, which this engine speaks.
 */

/** Loading starts at once and ends before the greeting, so that the first speech is fast. */
let espeak = load();

/**
 * Id of the running request, until the request is done or cancelled.
 * @type {number | undefined}
 */
let speaking;

process.stdout.on('error', () => process.exit());
createInterface({ input: process.stdin })
  .on('line', (line) => void answer(JSON.parse(line)))
  .on('close', () => (speaking = undefined));

function load() {
  const loading = loadEspeak();
  // `greet` and `speak` report a failure.
  loading.catch(() => undefined);
  return loading;
}

/** @param {HostMessage} message */
async function answer(message) {
  try {
    if (message.type === 'hello') await greet();
    else if (message.type === 'speak') await speak(message);
    else if (message.type === 'cancel' && message.id === speaking) speaking = undefined;
  } catch (error) {
    // Without the stack, which contains the source of espeak-ng: a line of 800 kB.
    process.stderr.write(`${messageOf(error)}\n`);
    const id = 'id' in message ? message.id : undefined;
    await send({ type: 'error', id, reason: 'failed', message: messageOf(error) });
  }
}

/** @param {number} id */
function isWanted(id) {
  return speaking === id;
}

async function greet() {
  await espeak;
  await send({
    type: 'hello',
    protocol: 1,
    name: 'espeak-ng',
    version: VERSION,
    license: 'GPL-3.0-or-later',
    voices: VOICES.map((voice) => ({
      id: voice.id,
      name: voice.name,
      language: voice.language,
      scripts: scriptsOf(voice),
      sampleRate: SAMPLE_RATE,
      pitch: true,
      words: true,
    })),
  });
}

/** @param {Extract<HostMessage, { type: 'speak' }>} message */
async function speak({ id, text, voice: wanted, speed, pitch }) {
  speaking = id;
  const voice = VOICES.find((one) => one.id === wanted);
  if (voice === undefined) throw new Error(`unknown voice: ${wanted}`);
  try {
    for (const { samples, words } of speech(await espeak, voice, { text, speed, pitch })) {
      if (!isWanted(id)) break;
      if (words.length > 0) await send({ type: 'words', id, words });
      await sendSpeech(id, samples);
    }
    await send({ type: 'done', id });
  } catch (error) {
    if (!(error instanceof Unspeakable)) {
      espeak = load();
      throw error;
    }
    await send({ type: 'error', id, reason: 'unspeakable', message: error.message });
  }
}

/**
 * @param {number} id
 * @param {Int16Array} samples
 */
async function sendSpeech(id, samples) {
  for (let at = 0; at < samples.length && isWanted(id); at += MESSAGE_SAMPLES) {
    const part = samples.subarray(at, at + MESSAGE_SAMPLES);
    const pcm = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
    await send({ type: 'audio', id, bytes: pcm.length }, pcm);
    // Lets a `cancel` message arrive.
    await nextTurn();
  }
}

/**
 * @param {object} message
 * @param {Buffer} pcm
 */
async function send(message, pcm = Buffer.alloc(0)) {
  const bytes = Buffer.concat([Buffer.from(`${JSON.stringify(message)}\n`), pcm]);
  if (!process.stdout.write(bytes)) await once(process.stdout, 'drain');
}
