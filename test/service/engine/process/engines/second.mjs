// An engine of version 2 (docs/engines.md): `node second.mjs JSON [BEHAVIOUR]`, with fields for its greeting.
import { createInterface } from 'node:readline';

const [, , fields = '{}', behaviour = 'speaks in turns'] = process.argv;
const voices = [{ id: 'v', language: 'en', sampleRate: 16_000 }];
const hello = { type: 'hello', protocol: 2, version: '1', license: 'MIT', voices };
const send = (message, pcm = Buffer.alloc(0)) => {
  process.stdout.write(`${JSON.stringify(message)}\n`);
  return process.stdout.write(pcm);
};
const greet = () => send({ ...hello, ...JSON.parse(fields) });
/** 100 ms in which every sample is the id of the request. */
const audio = (id, samples = 1600, value = id) => {
  const pcm = Buffer.from(new Int16Array(samples).fill(value).buffer);
  return send({ type: 'audio', id, bytes: pcm.length }, pcm);
};
const open = new Map();
const texts = [];
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Each request speaks as many chunks as its text has words, one chunk of each request a turn. */
async function speakInTurns() {
  while (open.size > 0) {
    for (const [id, words] of open) {
      if (words.length === 0) {
        open.delete(id);
        send({ type: 'done', id });
      } else {
        open.set(id, words.slice(1));
        audio(id);
      }
    }
    await pause(5);
  }
}

const BEHAVIOURS = {
  'speaks in turns': {
    speak({ id, text }) {
      open.set(id, text.split(' '));
      if (open.size === 1) void speakInTurns();
    },
    cancel({ id }) {
      if (open.has(id)) open.set(id, []);
    },
  },
  /** Says each text as a second of sound for each sentence, and knows no text in which only X is. */
  'speaks at once': {
    speak({ id, text }) {
      texts.push(text);
      if (text.startsWith('X'))
        return send({ type: 'error', id, reason: 'unspeakable', message: 'X' });
      if (text === 'Report.') return send({ type: 'error', id, message: JSON.stringify(texts) });
      const end = [...text.trimEnd()].length;
      send({ type: 'words', id, words: [{ start: 0, end, startMs: 100, endMs: 1000 }] });
      audio(id, 16_000, 8_000);
      return send({ type: 'done', id });
    },
  },
  'reports requests': {
    speak: (message) => send({ type: 'error', id: message.id, message: JSON.stringify(message) }),
  },
  'reports the greeting': {
    hello(message) {
      greet();
      this.greeting = message;
    },
    speak({ id }) {
      send({ type: 'error', id, message: JSON.stringify(this.greeting) });
    },
  },
  'fails the first': {
    speak({ id }) {
      if (id === 1) process.stderr.write('line 1\nNaN in the output\n');
      if (id > 1) audio(id);
      send(id === 1 ? { type: 'error', id, message: 'no sound' } : { type: 'done', id });
    },
  },
  'explains at length': {
    speak: ({ id }) => send({ type: 'error', id, message: `out of memory: ${'x'.repeat(5_000)}` }),
  },
  'floods the first': {
    async speak({ id, text }) {
      if (id > 1) {
        if (text === 'after the first') while (open.has(1)) await pause(5);
        audio(id);
        send({ type: 'done', id });
        return;
      }
      open.set(id, text);
      while (open.has(id)) {
        const isRead = audio(id, 160_000);
        if (!isRead) await new Promise((resolve) => process.stdout.once('drain', resolve));
        await new Promise((resolve) => setImmediate(resolve));
      }
      send({ type: 'done', id });
    },
    cancel: ({ id }) => open.delete(id),
  },
  'answers only the second': {
    speak({ id }) {
      if (id === 1) return;
      audio(id);
      send({ type: 'done', id });
    },
  },
  loads: {
    async hello() {
      for (const progress of [0.25, 0.5, 1]) {
        send({ type: 'loading', progress, message: 'loading the model' });
      }
      send({ type: 'loading' });
      greet();
    },
    speak({ id }) {
      audio(id);
      send({ type: 'done', id });
    },
  },
  'loads for ever': {
    hello() {
      setInterval(() => send({ type: 'loading' }), 10);
    },
  },
  'loads once': { hello: () => send({ type: 'loading' }) },
  'loads again': { speak: () => send({ type: 'loading' }) },
  clones: {
    clone: ({ id, audio: file, text }) =>
      text === ''
        ? send({ type: 'error', id, message: 'the words are required' })
        : send({ type: 'cloned', id, voice: `of ${file}: ${text}` }),
    speak: (message) => send({ type: 'error', id: message.id, message: message.voice }),
  },
};

const chosen = { hello: greet, ...BEHAVIOURS[behaviour] };
createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  void chosen[message.type]?.(message);
});
