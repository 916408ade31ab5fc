import { Type } from 'typebox';
import type { Static, TObject } from 'typebox';
import { Check, Errors } from 'typebox/schema';
import { ENGINE_PROTOCOL, EngineDescription } from '../../../contract/schemas/engine.ts';
import { display } from '../../../text/display.ts';

/** The messages between the service and an engine process (docs/engines.md). */

/** Limits of what an engine may send. */
export const ENGINE_LIMITS = {
  lineBytes: 1024 * 1024,
  /** Of one audio message: about 22 s at 24 kHz. */
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
  /** 1 for the first request to this process, then one more each time. */
  readonly id: number;
  readonly text: string;
  readonly voice: string;
  readonly speed: number;
  readonly pitch: number;
  /** Left out where the melody is to be the voice's own. */
  readonly melody?: number;
}

const Id = Type.Integer({ minimum: 1 });
const Milliseconds = Type.Number({ minimum: 0, maximum: 7 * 24 * 3_600_000 });

const Hello = Type.Interface([EngineDescription], { protocol: Type.Literal(ENGINE_PROTOCOL) });
const Audio = Type.Object({
  id: Id,
  bytes: Type.Integer({ minimum: 2, maximum: ENGINE_LIMITS.audioBytes, multipleOf: 2 }),
});
const Words = Type.Object({
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
const Done = Type.Object({ id: Id });
const Fault = Type.Object({
  /** Missing while the engine starts. */
  id: Type.Optional(Id),
  reason: Type.Optional(Type.Union([Type.Literal('unspeakable'), Type.Literal('failed')])),
  message: Type.String({ maxLength: ENGINE_LIMITS.messageCharacters }),
});

export type EngineMessage =
  | ({ readonly type: 'hello' } & Static<typeof Hello>)
  /** The announced bytes follow the line. */
  | ({ readonly type: 'audio' } & Static<typeof Audio>)
  | ({ readonly type: 'words' } & Static<typeof Words>)
  | ({ readonly type: 'done' } & Static<typeof Done>)
  | ({ readonly type: 'error' } & Static<typeof Fault>);

/** What an engine sent is not what docs/engines.md allows; the message is for its author. */
export class ProtocolFault extends Error {
  override readonly name = 'ProtocolFault';
}

/**
 * A line of an engine's stdout as a message.
 * @throws ProtocolFault
 */
export function parseMessage(line: string): EngineMessage {
  const value = parseObject(line);
  const type = 'type' in value ? value.type : undefined;
  switch (type) {
    case 'hello':
      refuseOtherProtocol(value);
      return { ...valid(Hello, value, type), type };
    case 'audio':
      return { ...valid(Audio, value, type), type };
    case 'words':
      return { ...valid(Words, value, type), type };
    case 'done':
      return { ...valid(Done, value, type), type };
    case 'error':
      return { ...valid(Fault, value, type), type };
    default:
      throw new ProtocolFault(
        `it sent a message of the type ${show(type)}; allowed are hello, audio, words, done and error`,
      );
  }
}

function parseObject(line: string): object {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new ProtocolFault(
      `it wrote ${show(line)} to stdout, which is for messages (logs belong on stderr)`,
    );
  }
  if (typeof value === 'object' && value !== null) return value;
  throw new ProtocolFault(`it sent ${show(value)}; a message is a JSON object`);
}

function refuseOtherProtocol(value: object): void {
  if (!('protocol' in value) || value.protocol === ENGINE_PROTOCOL) return;
  throw new ProtocolFault(
    `it speaks version ${show(value.protocol)} of the engine protocol; this foley speaks version ${ENGINE_PROTOCOL}`,
  );
}

function valid<Schema extends TObject>(
  schema: Schema,
  value: object,
  type: string,
): Static<Schema> {
  if (Check(schema, value)) return value;
  const [, [first]] = Errors(schema, value);
  const where = first === undefined || first.instancePath === '' ? '' : ` ${first.instancePath}`;
  throw new ProtocolFault(
    `its ${type} message is wrong:${where} ${first?.message ?? 'is not valid'}`,
  );
}

function show(value: unknown): string {
  return display(JSON.stringify(value) ?? 'undefined', { max: 80 });
}
