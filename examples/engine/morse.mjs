#!/usr/bin/env node
// An engine for foley that says texts in Morse code (docs/engines.md):
//   foley engine add morse -- node morse.mjs
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setImmediate as nextTurn } from 'node:timers/promises';

const RATE = 8_000;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';
const CODES =
  '.- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.. ----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----.';
const voice = {
  id: 'key',
  language: 'en',
  sampleRate: RATE,
  pitch: true,
  words: true,
  // Morse code has signs for digits: send the text as it is written.
  textNormalization: true,
};
const hello = { type: 'hello', protocol: 1, version: '1.0.0', license: 'MIT', voices: [voice] };
let speaking; // the id of the request that is being spoken

createInterface({ input: process.stdin }).on('line', async (line) => {
  const message = JSON.parse(line);
  if (message.type === 'hello') await send(hello);
  else if (message.type === 'speak') await speak(message);
  else if (message.type === 'cancel' && message.id === speaking) speaking = undefined;
});

async function speak({ id, text, speed, pitch }) {
  speaking = id;
  const unit = Math.round((RATE * 0.06) / speed); // samples of a dot
  const radians = (600 * 2 ** (pitch / 12) * 2 * Math.PI) / RATE; // of the tone, for a sample
  let saidMs = 0;
  for (const { 0: word, index } of text.matchAll(/[a-z0-9]{1,20}/gi)) {
    const units = `${Array.from(word.toLowerCase(), key).join('')}....`;
    const loud = (at) => (units[Math.floor(at / unit)] === '=' ? 9_000 : 0);
    const wave = (_, at) => loud(at) * Math.sin(radians * at);
    const pcm = Int16Array.from({ length: units.length * unit }, wave);
    const start = Array.from(text.slice(0, index)).length; // in code points
    const endMs = saidMs + ((units.length - 7) * unit * 1000) / RATE;
    const words = [{ start, end: start + word.length, startMs: saidMs, endMs }];
    await send({ type: 'words', id, words });
    await send({ type: 'audio', id, bytes: pcm.byteLength }, pcm);
    saidMs += (pcm.length * 1000) / RATE;
    await nextTurn(); // lets a `cancel` in: writing to a pipe waits for nothing else
    if (speaking !== id) break; // cancelled
  }
  await send({ type: 'done', id }); // without any audio the text was unspeakable
}

const key = (letter) =>
  `${CODES.split(' ')[LETTERS.indexOf(letter)].replaceAll('.', '=.').replaceAll('-', '===.')}..`;

async function send(message, pcm = new Int16Array(0)) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
  if (!process.stdout.write(Buffer.from(pcm.buffer))) await once(process.stdout, 'drain');
}
