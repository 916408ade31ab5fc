import { Type } from 'typebox';
import type { Static, TSchema } from 'typebox';
import { Check, Errors } from 'typebox/schema';
import { ENGINE_PROTOCOL, EngineDescription } from '../../../contract/engine.ts';
import { display } from '../../../text/display.ts';

/** Limits on the messages of an engine (docs/engines.md). */
const ENGINE_LIMITS = {
  lineBytes: 1024 * 1024,
  /** Maximum bytes of samples in one audio message: about 22 s at 24 kHz. */
  audioBytes: 1024 * 1024,
  wordsPerMessage: 10_000,
  messageCharacters: 1_000,
} as const;

export type HostMessage =
  | { readonly type: 'hello'; readonly protocol: number }
  | SpeakMessage
  | { readonly type: 'cancel'; readonly id: number };

export interface SpeakMessage {
  readonly type: 'speak';
  /** Number of the request within this process, from 1. */
  readonly id: number;
  readonly text: string;
  readonly voice: string;
  readonly speed: number;
  readonly pitch: number;
}

const Id = Type.Integer({ minimum: 1 });
const Milliseconds = Type.Number({ minimum: 0, maximum: 7 * 24 * 3_600_000 });

const Hello = Type.Object({
  ...EngineDescription.properties,
  type: Type.Literal('hello'),
  protocol: Type.Literal(ENGINE_PROTOCOL),
});
/** An audio message. The samples follow the JSON line as bytes. */
const Audio = Type.Object({
  type: Type.Literal('audio'),
  id: Id,
  bytes: Type.Integer({ minimum: 2, maximum: ENGINE_LIMITS.audioBytes, multipleOf: 2 }),
});
const Words = Type.Object({
  type: Type.Literal('words'),
  id: Id,
  words: Type.Array(
    Type.Object({
      start: Type.Integer({ minimum: 0 }),
      end: Type.Integer({ minimum: 1 }),
      startMs: Milliseconds,
      endMs: Milliseconds,
    }),
    { minItems: 1, maxItems: ENGINE_LIMITS.wordsPerMessage },
  ),
});
const Done = Type.Object({ type: Type.Literal('done'), id: Id });
const Fault = Type.Object({
  type: Type.Literal('error'),
  /** Request that failed; missing in an error before the greeting. */
  id: Type.Optional(Id),
  reason: Type.Optional(Type.Enum(['unspeakable', 'failed'])),
  message: Type.String({ maxLength: ENGINE_LIMITS.messageCharacters }),
});

const EngineMessage = Type.Union([Hello, Audio, Words, Done, Fault]);
export type EngineMessage = Static<typeof EngineMessage>;

const SCHEMAS = new Map<unknown, TSchema>([
  ['hello', Hello],
  ['audio', Audio],
  ['words', Words],
  ['done', Done],
  ['error', Fault],
]);

/** A violation of the engine protocol (docs/engines.md); the message is for the author of the engine. */
export class ProtocolFault extends Error {
  override readonly name = 'ProtocolFault';
}

function parseMessage(line: string): EngineMessage {
  const value = parseObject(line);
  if (Check(EngineMessage, value)) return value;
  const { protocol, type }: { protocol?: unknown; type?: unknown } = value;
  if (type === 'hello' && protocol !== undefined && protocol !== ENGINE_PROTOCOL) {
    throw new ProtocolFault(
      `it speaks version ${show(protocol)} of the engine protocol; this foley speaks version ${ENGINE_PROTOCOL}`,
    );
  }
  const schema = SCHEMAS.get(type);
  if (schema === undefined) {
    throw new ProtocolFault(
      `it sent a message of the type ${show(type)}; allowed types: hello, audio, words, done and error`,
    );
  }
  const [, [first]] = Errors(schema, value);
  const where = first === undefined || first.instancePath === '' ? '' : ` ${first.instancePath}`;
  throw new ProtocolFault(
    `its ${String(type)} message is invalid:${where} ${first?.message ?? 'is not valid'}`,
  );
}

function parseObject(line: string): object {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new ProtocolFault(
      `it wrote ${show(line)} to stdout, which is for messages only: write logs to stderr`,
    );
  }
  if (typeof value === 'object' && value !== null) return value;
  throw new ProtocolFault(`it sent ${show(value)}; a message must be a JSON object`);
}

function show(value: unknown): string {
  return display(JSON.stringify(value) ?? 'undefined', { max: 80 });
}

export interface ReceivedMessage {
  readonly message: EngineMessage;
  /** 16-bit samples of an audio message, little-endian; otherwise empty. */
  readonly pcm: Buffer;
}

/**
 * Parses the messages on an engine's stdout; does not read ahead of the consumer.
 * @throws ProtocolFault
 */
export async function* readMessages(
  stdout: AsyncIterable<Uint8Array>,
): AsyncGenerator<ReceivedMessage, undefined> {
  const queue = new ByteQueue(stdout);
  for (;;) {
    const line = await queue.line(ENGINE_LIMITS.lineBytes);
    if (line === undefined) return;
    if (line === 'too long') {
      throw new ProtocolFault(`it sent a line of more than ${ENGINE_LIMITS.lineBytes} bytes`);
    }
    const text = line.toString();
    if (text.trim() === '') continue;
    const message = parseMessage(text);
    const pcm = await queue.bytes(message.type === 'audio' ? message.bytes : 0);
    if (pcm === undefined) return;
    yield { message, pcm };
  }
}

/** Reads a stream by lines or by counts of bytes, without reading ahead. */
class ByteQueue {
  readonly #source: AsyncIterator<Uint8Array>;
  /** Bytes that were received from the stream and not yet returned. */
  #parts: Buffer[] = [];
  #length = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /**
   * Removes the next line and returns it without the line feed.
   * @returns undefined at the end of the stream; `'too long'` if a line has more than `maxBytes`
   */
  async line(maxBytes: number): Promise<Buffer | 'too long' | undefined> {
    for (;;) {
      const last = this.#parts.at(-1);
      const found = last?.indexOf(LINE_FEED) ?? -1;
      if (last !== undefined && found !== -1) {
        const length = this.#length - last.length + found;
        return length > maxBytes ? 'too long' : this.#remove(length + 1).subarray(0, length);
      }
      if (this.#length > maxBytes) return 'too long';
      if (!(await this.#read())) return undefined;
    }
  }

  /** Removes and returns `count` bytes; returns undefined if the stream ends early. */
  async bytes(count: number): Promise<Buffer | undefined> {
    while (this.#length < count) {
      if (!(await this.#read())) return undefined;
    }
    return this.#remove(count);
  }

  async #read(): Promise<boolean> {
    const next = await this.#source.next();
    if (next.done === true) return false;
    this.#parts.push(Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength));
    this.#length += next.value.byteLength;
    return true;
  }

  #remove(count: number): Buffer {
    const all = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts);
    const whole = all ?? Buffer.alloc(0);
    const rest = whole.subarray(count);
    this.#parts = rest.length === 0 ? [] : [rest];
    this.#length = rest.length;
    return whole.subarray(0, count);
  }
}

const LINE_FEED = 0x0a;
