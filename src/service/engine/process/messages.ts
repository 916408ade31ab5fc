import { Type } from 'typebox';
import type { Static, TSchema } from 'typebox';
import { Check, Errors } from 'typebox/schema';
import type { EngineControl } from '../../../contract/engine.ts';
import {
  ENGINE_PROTOCOLS,
  ENGINE_VOICES_MAX,
  EngineControls,
  EngineDescription,
  EngineVoiceRecord,
} from '../../../contract/engine.ts';
import { display } from '../../../text/display.ts';
import type { PronouncedSpan } from '../speech-engine.ts';
import { ByteQueue } from './byte-queue.ts';

/** Limits on the messages of an engine (docs/engines.md). */
const ENGINE_LIMITS = {
  lineBytes: 1024 * 1024,
  /** Maximum bytes of samples in one audio message: about 22 s at 24 kHz. */
  audioBytes: 1024 * 1024,
  wordsPerMessage: 10_000,
  handleCharacters: 1_000,
} as const;

export type HostMessage =
  | { readonly type: 'hello'; readonly protocol: number; readonly maxProtocol: number }
  | SpeakMessage
  | CloneMessage
  | { readonly type: 'cancel'; readonly id: number };

interface SpeakFields {
  readonly type: 'speak';
  /** Number of the request; the first request to an engine process has number 1. */
  readonly id: number;
  readonly text: string;
  readonly voice: string;
  /** Words of the text, in code points, with their phonemes in IPA; missing if there are none. */
  readonly pronunciations?: readonly PronouncedSpan[];
}

/** A `speak` message in version 1 or version 2 of the engine protocol. */
export type SpeakMessage =
  | (SpeakFields & { readonly speed: number; readonly pitch: number })
  | (SpeakFields & {
      readonly model: string;
      readonly controls: { readonly [Name in EngineControl]?: string | number };
      readonly words: boolean;
    });

export interface CloneMessage {
  readonly type: 'clone';
  readonly id: number;
  /** Path of a file with reference audio. */
  readonly audio: string;
  /** The words of the reference audio; empty if they are unknown. */
  readonly text: string;
}

const Id = Type.Integer({ minimum: 1 });
const Milliseconds = Type.Number({ minimum: 0, maximum: 7 * 24 * 3_600_000 });

const HELLO = { type: Type.Literal('hello') };
const DESCRIPTION = EngineDescription.properties;
const { controls: _controls, languages: _languages, ...VOICE_1 } = EngineVoiceRecord.properties;
const Hello1 = Type.Object({
  ...HELLO,
  protocol: Type.Literal(ENGINE_PROTOCOLS.oldest),
  version: DESCRIPTION.version,
  license: DESCRIPTION.license,
  voices: Type.Array(Type.Object(VOICE_1), {
    minItems: 1,
    maxItems: ENGINE_VOICES_MAX,
  }),
});
const Hello2 = Type.Object({
  ...HELLO,
  ...DESCRIPTION,
  protocol: Type.Literal(ENGINE_PROTOCOLS.newest),
  controls: Type.Optional(EngineControls),
});
const Loading = Type.Object({
  type: Type.Literal('loading'),
  progress: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  message: Type.Optional(Type.String()),
});
// The samples follow the JSON line as bytes.
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
  /** Id of the failed request; missing if the engine failed before its greeting. */
  id: Type.Optional(Id),
  reason: Type.Optional(Type.Enum(['unspeakable', 'failed'])),
  message: Type.String(),
});

const Cloned = Type.Object({
  type: Type.Literal('cloned'),
  id: Id,
  voice: Type.String({ minLength: 1, maxLength: ENGINE_LIMITS.handleCharacters }),
});

const EngineMessage = Type.Union([Hello1, Hello2, Loading, Audio, Words, Done, Fault, Cloned]);
export type EngineMessage = Static<typeof EngineMessage>;

const HELLOS = new Map<unknown, TSchema>([
  [ENGINE_PROTOCOLS.oldest, Hello1],
  [ENGINE_PROTOCOLS.newest, Hello2],
]);
const SCHEMAS = new Map<unknown, TSchema>([
  ['loading', Loading],
  ['audio', Audio],
  ['words', Words],
  ['done', Done],
  ['error', Fault],
  ['cloned', Cloned],
]);

/** Thrown for a violation of the engine protocol (docs/engines.md). The message is for the author of the engine. */
export class ProtocolFault extends Error {
  override readonly name = 'ProtocolFault';
}

function parseMessage(line: string): EngineMessage {
  const value = parseObject(line);
  if (Check(EngineMessage, value)) return value;
  const { protocol, type }: { protocol?: unknown; type?: unknown } = value;
  if (type === 'hello' && protocol !== undefined && !HELLOS.has(protocol)) {
    throw new ProtocolFault(
      `it speaks version ${show(protocol)} of the engine protocol; this foley speaks the versions ${[...HELLOS.keys()].join(' and ')}`,
    );
  }
  const schema = type === 'hello' ? (HELLOS.get(protocol) ?? Hello1) : SCHEMAS.get(type);
  if (schema === undefined) {
    throw new ProtocolFault(
      `it sent a message of the type ${show(type)}; allowed types: hello, audio, words, done, error, loading and cloned`,
    );
  }
  const [, [first]] = Errors(schema, value);
  const language = first === undefined ? undefined : languageProblem(value, first.instancePath);
  if (language !== undefined) throw new ProtocolFault(`its hello message is invalid: ${language}`);
  const where = first === undefined || first.instancePath === '' ? '' : ` ${first.instancePath}`;
  const allowed = first?.keyword === 'enum' ? `: ${first.params.allowedValues.join(', ')}` : '';
  throw new ProtocolFault(
    `its ${String(type)} message is invalid:${where} ${first?.message ?? 'is not valid'}${allowed}`,
  );
}

const LANGUAGE_FIELD = /\/(?:language|languages\/\d+)$/;

/** Returns what is wrong with a language code in `hello`; undefined if the path names no language. */
function languageProblem(message: object, path: string): string | undefined {
  const given = path
    .split('/')
    .slice(1)
    .reduce<unknown>((value, key) => Object(value)[key], message);
  if (!LANGUAGE_FIELD.test(path) || typeof given !== 'string') return undefined;
  const code = given.split(/[.@]/)[0]?.replaceAll('_', '-') ?? '';
  const example = Check(EngineVoiceRecord.properties.language, code)
    ? code
    : 'a code such as en-US';
  return `${path} is ${show(given)}: write ${example}`;
}

function parseObject(line: string): object {
  let value: unknown;
  try {
    // Many JSON libraries write missing fields as null. In a list, null stays, and its schema refuses it.
    value = JSON.parse(line, function (this: unknown, _key, part: unknown) {
      return Array.isArray(this) ? part : (part ?? undefined);
    });
  } catch {
    const isMessage = /^\s*\{\s*["']\w+["']\s*:/.test(line);
    throw new ProtocolFault(
      isMessage
        ? `it wrote ${show(line)} to stdout, which is not valid JSON: NaN, Infinity and single quotes are not allowed`
        : `it wrote ${show(line)} to stdout, which is for messages only: write logs to stderr`,
    );
  }
  if (typeof value === 'object' && value !== null) return value;
  throw new ProtocolFault(`it sent ${show(value ?? null)}; a message must be a JSON object`);
}

function show(value: unknown): string {
  return display(JSON.stringify(value) ?? 'undefined', { max: 80 });
}

export interface ReceivedMessage {
  readonly message: EngineMessage;
  /** Samples of an audio message (16-bit, little-endian); empty for other messages. */
  readonly pcm: Buffer;
}

/**
 * Parses the messages on an engine's stdout. Reads stdout only when the consumer asks for a message. @throws
 * ProtocolFault
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

/** Returns the engine description in a greeting. Missing fields get the defaults of the protocol version. */
export function descriptionIn(
  hello: Extract<EngineMessage, { readonly type: 'hello' }>,
  name: string,
): EngineDescription {
  const { version, license } = hello;
  const isFirst = hello.protocol === ENGINE_PROTOCOLS.oldest;
  const {
    cloning,
    controls = [],
    maxConcurrent = 1,
    maxTextLength,
    models,
  }: Partial<EngineDescription2> = isFirst ? {} : hello;
  const voices = hello.voices.map((voice: EngineDescription['voices'][number]) => {
    const own = isFirst ? undefined : [...new Set(voice.controls ?? controls)];
    return {
      id: voice.id,
      name: voice.name ?? voice.id,
      language: voice.language,
      sampleRate: voice.sampleRate,
      pitch: own?.includes('pitch') ?? voice.pitch === true,
      words: voice.words === true,
      ...(voice.textNormalization === true ? { textNormalization: true } : {}),
      ...(voice.phonemes === undefined ? {} : { phonemes: voice.phonemes }),
      ...(voice.scripts === undefined ? {} : { scripts: voice.scripts }),
      ...(own === undefined ? {} : { controls: own }),
      ...(isFirst || voice.languages === undefined ? {} : { languages: voice.languages }),
    };
  });
  if (isFirst) return { version, license, voices };
  return {
    version,
    license,
    voices,
    protocol: ENGINE_PROTOCOLS.newest,
    models: models ?? [{ id: `local-${name}` }],
    maxConcurrent,
    ...(maxTextLength === undefined ? {} : { maxTextLength }),
    ...(cloning === true ? { cloning } : {}),
  };
}

type EngineDescription2 = Extract<EngineMessage, { readonly type: 'hello'; readonly protocol: 2 }>;
