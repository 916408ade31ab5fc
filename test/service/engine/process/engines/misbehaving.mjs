// An engine that breaks one rule of docs/engines.md: `node misbehaving.mjs BEHAVIOUR`.
import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const voices = [{ id: 'v', language: 'en', sampleRate: 16_000 }];
const hello = { type: 'hello', protocol: 1, version: '1', license: 'MIT', voices };
const send = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const greet = () => send(hello);
const audio = (id, pcm = Buffer.alloc(3200, 1)) => {
  send({ type: 'audio', id, bytes: pcm.length });
  return process.stdout.write(pcm);
};
const staysForEver = () => {
  setInterval(() => undefined, 1000);
  process.on('SIGTERM', () => undefined);
};
/** Starts a process of its own session that has the engine's stdout for 20 s, and then writes a file. */
const leavesChild = (file) => {
  const script = 'setTimeout(() => require("node:fs").writeFileSync(process.argv[1], ""), 20_000)';
  const stdio = ['ignore', 'inherit', 'ignore'];
  const child = spawn(process.execPath, ['-e', script, `${file}.ended`], { stdio, detached: true });
  child.unref();
  writeFileSync(file, `${child.pid}`);
};
const dies = (code) => {
  process.exitCode = code;
  process.stdin.destroy();
};
const speaksForEver = async ({ id }) => {
  for (;;) {
    if (!audio(id)) await new Promise((resolve) => process.stdout.once('drain', resolve));
    await new Promise((resolve) => setImmediate(resolve));
  }
};
const sends = (words) => ({
  speak({ id }) {
    send({ type: 'words', id, words });
    audio(id);
    send({ type: 'done', id });
  },
});

/** What `foley engine add` has an engine say. */
const isProbe = (text) => !text.includes('fails');
const speaks = (id) => {
  audio(id);
  send({ type: 'done', id });
};

/** Speaks ten seconds, which a service has sent before `then` runs. */
const afterSpeech = (then) => ({
  speak({ id, text }) {
    if (isProbe(text)) return speaks(id);
    audio(id, Buffer.alloc(320_000, 1));
    return setTimeout(() => then(id), 200);
  },
});

const BEHAVIOURS = {
  good: {
    speak({ id }) {
      audio(id);
      send({ type: 'done', id });
    },
  },
  'good and stays': {
    hello() {
      staysForEver();
      greet();
    },
    speak({ id }) {
      audio(id);
      send({ type: 'done', id });
    },
  },
  'leaves a child with its stdout': {
    hello() {
      const [, , , file] = process.argv;
      leavesChild(file);
      greet();
    },
    speak({ id, text }) {
      if (isProbe(text)) return speaks(id);
      return dies(3);
    },
  },
  'never says hello': {
    hello() {
      staysForEver();
      const [, , , started] = process.argv;
      if (started !== undefined) writeFileSync(started, '');
    },
  },
  'says hello twice': {
    speak: greet,
  },
  'speaks version 3': { hello: () => send({ ...hello, protocol: 3 }) },
  'has a bad voice': { hello: () => send({ ...hello, voices: [{ ...voices[0], id: '../v' }] }) },
  'has a twin': { hello: () => send({ ...hello, voices: [voices[0], voices[0]] }) },
  'has too many voices': { hello: () => send({ ...hello, voices: Array(1001).fill(voices[0]) }) },
  'has another rate': {
    hello: () => send({ ...hello, voices: [{ ...voices[0], sampleRate: 8_000 }] }),
  },
  'cannot load': {
    hello: () => send({ type: 'error', message: 'the model \u001b[2J is missing' }),
  },
  'is silent': { speak: () => undefined },
  'is silent and stays': {
    hello() {
      staysForEver();
      greet();
    },
    speak: () => undefined,
  },
  'writes a log': { speak: () => process.stdout.write('Loading model\u0007...\n') },
  'sends noise': { speak: () => process.stdout.write(Buffer.alloc(5000, 0xff)) },
  'sends an array': { speak: () => send([1]) },
  'invents a type': { speak: ({ id }) => send({ type: 'video', id }) },
  'mixes up ids': { speak: ({ id }) => audio(id + 1) },
  'announces a terabyte': { speak: ({ id }) => send({ type: 'audio', id, bytes: 1e12 }) },
  'announces half a sample': { speak: ({ id }) => send({ type: 'audio', id, bytes: 3 }) },
  'sends an endless line': { speak: () => process.stdout.write('x'.repeat(2 ** 21)) },
  'dies at once': {
    speak({ id, text }) {
      if (isProbe(text)) return speaks(id);
      process.stderr.write('CUDA is out of memory\n');
      return dies(3);
    },
  },
  'dies after a sentence': afterSpeech(() => {
    process.stderr.write('CUDA is out of memory\n');
    dies(3);
  }),
  'gives up after a sentence': afterSpeech((id) =>
    send({ type: 'error', id, message: 'the model has no weights for this' }),
  ),
  'writes a log after a sentence': afterSpeech(() => process.stdout.write('Loading model...\n')),
  'is silent after a sentence': afterSpeech(() => process.stderr.write('waiting for the GPU\n')),
  'speaks slowly': afterSpeech(async (id) => {
    for (let second = 0; second < 4; second += 1) {
      await new Promise((resolve) => setTimeout(resolve, 20_000));
      audio(id);
    }
    send({ type: 'done', id });
  }),
  'gives up': {
    speak({ id, text }) {
      if (isProbe(text)) return speaks(id);
      return send({ type: 'error', id, message: 'the model has no weights for this' });
    },
  },
  'writes a log later': {
    speak: ({ id, text }) =>
      isProbe(text) ? speaks(id) : process.stdout.write('Loading model\u0007...\n'),
  },
  'cannot load later': {
    hello() {
      const [, , , file] = process.argv;
      if (existsSync(file)) return send({ type: 'error', message: 'the model has gone' });
      writeFileSync(file, '');
      return greet();
    },
    speak: ({ id }) => speaks(id),
  },
  'dies in the middle': {
    speak({ id }) {
      send({ type: 'audio', id, bytes: 1000 });
      process.stdout.write(Buffer.alloc(10), () => {
        process.stderr.write('out of memory\n');
        dies(3);
      });
    },
  },
  'closes stdout': {
    hello() {
      staysForEver();
      greet();
    },
    speak: () => process.stdout.end(),
  },
  'dies after each': {
    speak({ id }) {
      audio(id);
      send({ type: 'done', id });
      dies(0);
    },
  },
  'speaks for ever': { speak: speaksForEver },
  'ignores cancel': {
    speak(message) {
      staysForEver();
      void speaksForEver(message);
    },
    cancel: () => undefined,
  },
  trickles: {
    async speak({ id }) {
      const header = Buffer.from(`${JSON.stringify({ type: 'audio', id, bytes: 400 })}\n`);
      const end = Buffer.from(`${JSON.stringify({ type: 'done', id })}\r\n\n`);
      for (const byte of Buffer.concat([header, Buffer.alloc(400, 2), end])) {
        await new Promise((resolve) => process.stdout.write(Buffer.of(byte), resolve));
      }
    },
  },
  'says nothing': { speak: ({ id }) => send({ type: 'done', id }) },
  'cannot say it': {
    speak: ({ id }) => send({ type: 'error', id, reason: 'unspeakable', message: 'no vowels' }),
  },
  'sends its environment': {
    speak: ({ id }) =>
      send({ type: 'error', id, message: `it has ${Object.keys(process.env).sort().join()}` }),
  },
  'sends words backwards': sends([
    { start: 3, end: 5, startMs: 0, endMs: 10 },
    { start: 0, end: 2, startMs: 10, endMs: 20 },
  ]),
  'sends words that are not there': sends([{ start: 0, end: 9000, startMs: 0, endMs: 10 }]),
  'sends words after the end': sends([{ start: 0, end: 2, startMs: 0, endMs: 60_000 }]),
  'sends times backwards': sends([{ start: 0, end: 2, startMs: 20, endMs: 10 }]),
};

const behaviour = { hello: greet, ...BEHAVIOURS[process.argv[2]] };
createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  void behaviour[message.type]?.(message);
});
