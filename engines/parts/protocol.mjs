// Speaks the protocol of engines (docs/engines.md, versions 1 and 2) over stdin and stdout.

import { once } from 'node:events';
import { createInterface } from 'node:readline';

const PROTOCOL = 2;

/** Duration of the speech in an audio message. */
const MESSAGE_MS = 100;

/** The voice cannot speak any part of the text. */
export class Unspeakable extends Error {}

/**
 * Returns the message of an error.
 * @param {unknown} error
 */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/**
 * @typedef {import('../../src/service/engine/speech-engine.ts').WordMark} Word
 * @typedef {import('../../src/service/engine/speech-engine.ts').PronouncedSpan} Pronunciation
 * @typedef {import('../../src/contract/engine.ts').EngineVoiceRecord} Voice
 * @typedef {import('../../src/contract/engine.ts').EngineDescription} EngineDescription
 * @typedef {import('../../src/contract/engine.ts').EngineControl} EngineControl
 * @typedef {import('../../src/service/engine/process/messages.ts').HostMessage} HostMessage
 * @typedef {import('../../src/service/engine/process/messages.ts').SpeakMessage} SpeakMessage
 * @typedef {import('../../src/service/engine/process/messages.ts').EngineMessage} EngineMessage
 *
 * @typedef {{ text: string, voice: Voice, speed: number, pitch: number, wantsWords: boolean, pronunciations: readonly Pronunciation[], signal: AbortSignal }} Request
 * @typedef {Omit<EngineDescription, 'protocol'> & { name: string, controls: EngineControl[] }} Description
 * @typedef {(message: string, progress?: number) => void} Report
 *
 * @typedef {object} Engine
 * @property {(report: Report) => Promise<Description>} load called once, at the start; may report its progress
 * @property {(request: Request) => AsyncIterable<{ samples: Int16Array, words: readonly Word[] }>} speak yields the
 *   speech in chunks; throws `Unspeakable` if no part of the text can be spoken
 */

/**
 * Runs an engine until stdin or stdout ends; the program must exit then. Requests are spoken one after
 * the other, unless the engine declares `maxConcurrent`. The signal of a request is aborted when foley cancels it.
 * @param {Engine} engine
 * @returns {Promise<void>}
 */
export function serve(engine) {
  let protocol = 0;
  /** @type {object[]} */
  const reports = [];
  /** @type {Report} */
  const report = (message, progress) => {
    const loading = { type: 'loading', progress, message };
    if (protocol === 0) reports.push(loading);
    else if (protocol >= 2) void send(loading);
  };
  // Loading starts at once, so that it runs while the host prepares its first message.
  const loaded = engine.load(report);
  loaded.catch(() => undefined);

  /** @type {Map<number, AbortController>} */
  const open = new Map();
  let last = Promise.resolve();
  let isConcurrent = false;

  /** @param {Extract<HostMessage, { type: 'hello' }>} message */
  const greet = async (message) => {
    protocol = Math.min(PROTOCOL, message.maxProtocol ?? message.protocol);
    if (protocol >= 2) for (const loading of reports) await send(loading);
    const { models, controls, maxConcurrent = 1, voices, ...description } = await loaded;
    isConcurrent = maxConcurrent > 1;
    const extra = protocol >= 2 ? { models, controls, maxConcurrent } : {};
    await send({ type: 'hello', protocol, ...description, ...extra, voices });
  };

  /** @type {(id: number, message: object) => Promise<void>} */
  const end = async (id, message) => {
    const request = open.get(id);
    if (request === undefined) return;
    open.delete(id);
    request.abort();
    await send({ id, ...message });
  };

  /**
   * @param {SpeakMessage} message
   * @param {AbortSignal} signal
   */
  const speak = async (message, signal) => {
    const { id, text, voice: wanted, pronunciations = [] } = message;
    const { controls, words = true } = 'controls' in message ? message : { controls: message };
    const { voices } = await loaded;
    const voice = voices.find((one) => one.id === wanted);
    if (voice === undefined) throw new Error(`unknown voice: ${wanted}`);
    const request = {
      text,
      voice,
      speed: Number(controls.speed ?? 1),
      pitch: Number(controls.pitch ?? 0),
      wantsWords: words,
      pronunciations,
      signal,
    };
    for await (const chunk of engine.speak(request)) {
      if (!open.has(id)) break;
      if (words && chunk.words.length > 0) await send({ type: 'words', id, words: chunk.words });
      await sendSpeech(id, chunk.samples, voice.sampleRate, () => open.has(id));
    }
    await end(id, { type: 'done' });
  };

  /** @param {HostMessage} message */
  const answer = async (message) => {
    try {
      if (message.type === 'hello') await greet(message);
      else if (message.type === 'speak') {
        const signal = open.get(message.id)?.signal;
        if (signal !== undefined) await speak(message, signal);
      }
    } catch (error) {
      const reason = error instanceof Unspeakable ? 'unspeakable' : 'failed';
      if (message.type === 'hello') return await send({ type: 'error', message: messageOf(error) });
      if (reason === 'failed') process.stderr.write(`${messageOf(error)}\n`);
      await end(message.id, { type: 'error', reason, message: messageOf(error) });
    }
  };

  /** @param {string} line */
  const receive = (line) => {
    /** @type {HostMessage} */
    const message = JSON.parse(line);
    // A cancelled request ends at once; its model run ends in its own time.
    if (message.type === 'cancel') return void end(message.id, { type: 'done' });
    if (message.type === 'speak') open.set(message.id, new AbortController());
    if (isConcurrent) void answer(message);
    else last = last.then(() => answer(message));
  };
  return new Promise((resolve) => {
    process.stdout.on('error', resolve);
    createInterface({ input: process.stdin }).on('line', receive).on('close', resolve);
  });
}

/**
 * @param {number} id
 * @param {Int16Array} samples
 * @param {number} sampleRate
 * @param {() => boolean} isWanted
 */
async function sendSpeech(id, samples, sampleRate, isWanted) {
  const size = Math.round((sampleRate * MESSAGE_MS) / 1000);
  for (let at = 0; at < samples.length && isWanted(); at += size) {
    const part = samples.subarray(at, at + size);
    const pcm = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
    await send({ type: 'audio', id, bytes: pcm.length }, pcm);
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
