// Speaks the protocol of engines (docs/engines.md, versions 1 and 2) over stdin and stdout.

import { once } from 'node:events';
import { createInterface } from 'node:readline';

const PROTOCOL = 2;

/** Duration of the speech in an audio message. */
const MESSAGE_MS = 100;

/** The voice cannot speak any part of the text. */
export class Unspeakable extends Error {}

/**
 * @typedef {{ start: number, end: number, startMs: number, endMs: number }} Word
 * @typedef {{ id: string, name: string, language: string, sampleRate: number }} Voice
 * @typedef {{ start: number, end: number, phonemes: string }} Pronunciation word of a text in code points, phonemes in IPA
 * @typedef {{ text: string, voice: Voice, speed: number, pitch: number, wantsWords: boolean, pronunciations: Pronunciation[] }} Request
 * @typedef {{ version: string, license: string, voices: Voice[], models?: { id: string, name: string }[],
 *   controls?: string[] }} Description
 * @typedef {(message: string, progress?: number) => void} Report
 *
 * @typedef {object} Engine
 * @property {(report: Report) => Promise<Description>} load called once, at the start; may report its progress
 * @property {(request: Request) => AsyncIterable<{ samples: Int16Array, words: Word[] }>} speak yields the
 *   speech in chunks; throws `Unspeakable` if no part of the text can be spoken
 */

/**
 * Runs an engine until stdin or stdout ends; the program must exit then. Requests are spoken one after
 * the other.
 * @param {Engine} engine
 * @returns {Promise<void>}
 */
export function serve(engine) {
  let protocol = 0;
  const reports = [];
  const report = (message, progress) => {
    const loading = { type: 'loading', progress, message };
    if (protocol === 0) reports.push(loading);
    else if (protocol >= 2) void send(loading);
  };
  // Loading starts at once, so that it runs while the host prepares its first message.
  const loaded = engine.load(report);
  loaded.catch(() => undefined);

  const open = new Set();
  let last = Promise.resolve();

  const greet = async (message) => {
    protocol = Math.min(PROTOCOL, message.maxProtocol ?? message.protocol);
    if (protocol >= 2) for (const loading of reports) await send(loading);
    const { models, controls, voices, ...description } = await loaded;
    const extra = protocol >= 2 ? { models, controls, maxConcurrent: 1 } : {};
    await send({ type: 'hello', protocol, ...description, ...extra, voices });
  };

  const end = async (id, message) => {
    if (open.delete(id)) await send({ id, ...message });
  };

  const speak = async (message) => {
    const { id, text, voice: wanted, controls, words = true, pronunciations = [] } = message;
    const { voices } = await loaded;
    const voice = voices.find((one) => one.id === wanted);
    if (voice === undefined) throw new Error(`unknown voice: ${wanted}`);
    const request = {
      text,
      voice,
      speed: controls?.speed ?? message.speed ?? 1,
      pitch: controls?.pitch ?? message.pitch ?? 0,
      wantsWords: words,
      pronunciations,
    };
    for await (const chunk of engine.speak(request)) {
      if (!open.has(id)) break;
      if (words && chunk.words.length > 0) await send({ type: 'words', id, words: chunk.words });
      await sendSpeech(id, chunk.samples, voice.sampleRate, () => open.has(id));
    }
    await end(id, { type: 'done' });
  };

  const answer = async (message) => {
    try {
      if (message.type === 'hello') await greet(message);
      else if (message.type === 'speak' && open.has(message.id)) await speak(message);
    } catch (error) {
      const reason = error instanceof Unspeakable ? 'unspeakable' : 'failed';
      if (reason === 'failed') process.stderr.write(`${error.message}\n`);
      if (message.type === 'hello') await send({ type: 'error', message: error.message });
      else await end(message.id, { type: 'error', reason, message: error.message });
    }
  };

  const receive = (line) => {
    const message = JSON.parse(line);
    // A cancelled request ends at once; its model run ends in its own time.
    if (message.type === 'cancel') return void end(message.id, { type: 'done' });
    if (message.type === 'speak') open.add(message.id);
    last = last.then(() => answer(message));
  };
  return new Promise((resolve) => {
    process.stdout.on('error', resolve);
    createInterface({ input: process.stdin }).on('line', receive).on('close', resolve);
  });
}

async function sendSpeech(id, samples, sampleRate, isWanted) {
  const size = Math.round((sampleRate * MESSAGE_MS) / 1000);
  for (let at = 0; at < samples.length && isWanted(); at += size) {
    const part = samples.subarray(at, at + size);
    const pcm = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
    await send({ type: 'audio', id, bytes: pcm.length }, pcm);
  }
}

async function send(message, pcm = Buffer.alloc(0)) {
  const bytes = Buffer.concat([Buffer.from(`${JSON.stringify(message)}\n`), pcm]);
  if (!process.stdout.write(bytes)) await once(process.stdout, 'drain');
}
