import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';

interface Message {
  readonly type: string;
  readonly id?: number;
  readonly [field: string]: unknown;
}

interface Word {
  readonly start: number;
  readonly end: number;
  readonly startMs: number;
  readonly endMs: number;
}

interface Spoken {
  /** The message that ended the request. */
  readonly end: Message;
  readonly samples: Int16Array;
  readonly words: readonly Word[];
  /** Milliseconds from the request until its first audio. */
  readonly firstAudioMs: number;
}

/** A running engine, spoken to over its pipe (docs/engines.md). */
export interface DrivenEngine {
  readonly send: (message: object) => void;
  /** Returns the next message that the test has not seen, without audio messages. */
  readonly next: () => Promise<Message>;
  readonly greet: (hello?: object) => Promise<Message>;
  readonly speak: (text: string, voice: string, more?: object) => Promise<Spoken>;
  /** Closes stdin; returns the exit code. */
  readonly end: () => Promise<number | null>;
  readonly stderr: () => string;
}

/**
 * Starts an engine as foley does. It ends with the test, or when `end` is called.
 * @param env variables that differ from those of the test
 */
export function driveEngine(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): DrivenEngine {
  const child = spawn(process.execPath, [file, ...args], { env: { ...process.env, ...env } });
  const ended = once(child, 'exit');
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const seen: (Message & { readonly pcm?: Buffer })[] = [];
  let wake: (() => void) | undefined;
  readMessages(child.stdout, (message) => {
    seen.push(message);
    wake?.();
  });
  let lastId = 0;
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify(message)}\n`);
  const take = async (): Promise<Message & { readonly pcm?: Buffer }> => {
    while (seen.length === 0) {
      const more = new Promise<void>((resolve) => (wake = resolve));
      const [code] = await Promise.race([more.then(() => ['more']), ended]);
      if (code !== 'more' && seen.length === 0) throw new Error(`ended with ${code}: ${stderr}`);
    }
    return seen.shift() ?? { type: 'nothing' };
  };
  const engine: DrivenEngine = {
    send,
    next: async () => {
      for (;;) {
        const message = await take();
        if (message.type !== 'audio') return message;
      }
    },
    greet: async (hello = { protocol: 1, maxProtocol: 2 }) => {
      send({ type: 'hello', ...hello });
      for (;;) {
        const message = await take();
        if (message.type !== 'loading') return message;
      }
    },
    speak: async (text, voice, more = {}) => {
      lastId += 1;
      const started = performance.now();
      send({ type: 'speak', id: lastId, text, voice, ...more });
      const parts: Buffer[] = [];
      const words: Word[] = [];
      let firstAudioMs = Infinity;
      for (;;) {
        const message = await take();
        if (message.pcm !== undefined) {
          firstAudioMs = Math.min(firstAudioMs, performance.now() - started);
          parts.push(message.pcm);
        } else if (Array.isArray(message['words'])) words.push(...message['words']);
        else return { end: message, samples: samplesIn(parts), words, firstAudioMs };
      }
    },
    end: async () => {
      child.stdin.end();
      const [code] = await ended;
      return code;
    },
    stderr: () => stderr,
  };
  onTestFinished(() => void child.kill('SIGKILL'));
  return engine;
}

function readMessages(
  stdout: NodeJS.ReadableStream,
  onMessage: (message: Message & { readonly pcm?: Buffer }) => void,
): void {
  let rest = Buffer.alloc(0);
  let audio: (Message & { readonly bytes: number }) | undefined;
  stdout.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      if (audio !== undefined) {
        if (rest.length < audio.bytes) return;
        onMessage({ ...audio, pcm: rest.subarray(0, audio.bytes) });
        rest = rest.subarray(audio.bytes);
        audio = undefined;
      }
      const lineEnd = rest.indexOf('\n');
      if (lineEnd === -1) return;
      const message = JSON.parse(rest.subarray(0, lineEnd).toString());
      rest = rest.subarray(lineEnd + 1);
      if (message.type === 'audio') audio = message;
      else onMessage(message);
    }
  });
}

function samplesIn(parts: readonly Buffer[]): Int16Array {
  const bytes = Buffer.concat(parts);
  return Int16Array.from({ length: bytes.length / 2 }, (_, at) => bytes.readInt16LE(at * 2));
}
