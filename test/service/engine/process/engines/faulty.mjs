// An engine of version 2 with all capabilities that breaks at most one rule of docs/engines.md:
// `node faulty.mjs FAULT`.
import { createInterface } from 'node:readline';

const RATE = 16_000;
const fault = process.argv[2] ?? 'none';
const controls = 'language speed pitch volume emotion instruction stability similarity'.split(' ');
const voices = [
  { id: 'a', language: 'en', sampleRate: RATE, words: true, textNormalization: true },
  { id: 'b', language: 'de', sampleRate: RATE, words: true, textNormalization: true },
];
if (fault === 'has a twin') voices[1].id = 'a';
const cancelled = new Set();
const open = new Set();

function send(message, pcm = Buffer.alloc(0)) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
  if (pcm.length > 0) process.stdout.write(pcm);
}

function hello() {
  if (fault === 'logs to stdout') process.stdout.write('Loading model...\n');
  if (fault === 'cannot load') return send({ type: 'error', message: 'no GPU' });
  const version = { protocol: 2, version: '1', license: 'MIT' };
  const limits = { maxConcurrent: 3, maxTextLength: 200 };
  return send({ type: 'hello', ...version, voices, controls, ...limits });
}

const clip = (value) => Math.max(-32_768, Math.min(32_767, Math.round(value)));

/** A tone for each word, with the loudness of speech. */
function toneOf(characters, given) {
  const { emotion = '', instruction = '', language = '', pitch = 0, volume = 0 } = given;
  const { similarity = 1, stability = 1 } = given;
  const speed = fault === 'ignores speed' ? 1 : (given.speed ?? 1);
  const hertz = 200 + 5 * pitch + (fault === 'ignores emotion' ? 0 : emotion.length);
  const other = instruction.length + language.length + stability + similarity;
  const slow =
    { 'has another rate': 6, 'is declared too slow': 1.6, 'is declared too fast': 1 / 1.5 }[
      fault
    ] ?? 1;
  const length = Math.round((RATE * characters * 0.06 * slow) / speed);
  let level = { 'is silent': 0, clips: 80_000, 'is loud': 20_000 }[fault] ?? 4_600;
  level *= 10 ** (volume / 20);
  const at = (index) => level * Math.sin((2 * Math.PI * (hertz + other) * index) / RATE);
  return Int16Array.from({ length }, (_, index) => clip(at(index)));
}

const scaled = (sample) => sample / 32_768;

/** The bytes of samples, in the right format or in a wrong one. */
function bytesOf(pcm, isFirst) {
  const bytes = Buffer.from(pcm.buffer);
  if (fault === 'sends 32-bit floats') return Buffer.from(Float32Array.from(pcm, scaled).buffer);
  if (fault === 'sends 64-bit floats') return Buffer.from(Float64Array.from(pcm, scaled).buffer);
  if (fault === 'swaps bytes') return Buffer.from(bytes).swap16();
  if (fault === 'sends two channels') {
    return Buffer.from(Int16Array.from([...pcm].flatMap((sample) => [sample, sample])).buffer);
  }
  const header = Buffer.alloc(fault === 'sends a file' && isFirst ? 44 : 0);
  header.write('RIFF'.slice(0, header.length));
  return Buffer.concat([header, bytes]);
}

async function speak({ id, text, voice, controls: given = {}, words: isTimed }) {
  if (fault === 'fails for long texts' && text.length > 150) {
    return send({ type: 'error', id, message: 'too many tokens' });
  }
  const isMute = fault === 'has a voice that is mute' && voice === 'b';
  const spoken = fault === 'stops at a line break' ? text.split('\n')[0] : text;
  const found = isMute ? [] : [...spoken.matchAll(/[\p{L}\p{N}]+/gu)];
  if (found.length === 0 && fault === 'fails without letters') {
    return send({ type: 'error', id, message: 'list index out of range' });
  }
  if (found.length === 0 && fault === 'dies without letters') throw new Error('no letters');
  open.add(id);
  let ms = 0;
  for (const [index, { 0: word, index: units }] of found.entries()) {
    if (cancelled.has(id) && fault !== 'ignores cancel') break;
    const pcm = toneOf(word.length, given);
    const endMs = ms + (pcm.length * 1000) / RATE;
    const start = Array.from(text.slice(0, units)).length;
    const time = { start, end: start + Array.from(word).length, startMs: ms, endMs };
    const isMissing = fault === 'misses a word' && index === 1;
    if (isTimed && !isMissing) send({ type: 'words', id, words: [time] });
    const target = fault === 'mixes up requests' ? [...open][0] : id;
    const bytes = bytesOf(pcm, index === 0);
    send({ type: 'audio', id: target, bytes: bytes.length }, bytes);
    ms = endMs;
    const pauseMs = fault === 'ignores cancel' && found.length > 20 ? 100 : 1;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  open.delete(id);
  return send({ type: 'done', id });
}

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const message = JSON.parse(line);
  if (message.type === 'hello') hello();
  else if (message.type === 'speak') void speak(message);
  else if (message.type === 'cancel') cancelled.add(message.id);
});
lines.on('close', () => {
  if (fault === 'logs at the end') process.stdout.write('bye\n');
  if (fault === 'stays') setInterval(() => undefined, 1000);
});
