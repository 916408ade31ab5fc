import type { AlignedCompleted, AlignedWord } from '../../contract/schemas/aligned.ts';
import type { ByteString } from './sse-events.ts';
import { textOf } from './sse-events.ts';

/** What an event of an aligned stream says (spec section 6.1). */
export type AlignedEvent =
  | { readonly kind: 'audio'; readonly bytes: Uint8Array }
  | { readonly kind: 'snapshot'; readonly chunkSeq: number; readonly words: readonly AlignedWord[] }
  | { readonly kind: 'invalidated'; readonly chunkSeq: number }
  | { readonly kind: 'completed'; readonly facts: CompletedFacts }
  | { readonly kind: 'error'; readonly code: string; readonly requestId: string | undefined };

/** The last event of a stream that succeeded; what a service leaves out is undefined. */
export interface CompletedFacts {
  readonly alignmentStatus: AlignedCompleted['alignmentStatus'];
  readonly requestId: string | undefined;
  readonly generationId: string | undefined;
  readonly quotaRemaining: number | undefined;
  readonly creditsUsed: number | undefined;
}

/** Data that is not what the event's name promises. */
export class UnreadableEvent extends Error {
  constructor(name: string, problem: string) {
    super(`the event "${name}" ${problem}`);
    this.name = 'UnreadableEvent';
  }
}

/**
 * An event's name and data to what it says, the second layer. An event of another name is undefined:
 * a service may add some.
 * @throws UnreadableEvent
 */
export function readAlignedEvent(name: string, data: ByteString): AlignedEvent | undefined {
  switch (name) {
    case 'audio':
      return { kind: 'audio', bytes: plainAudio(data) ?? audioOf(fieldsOf(name, data)) };
    case 'alignment_snapshot':
      return snapshotOf(fieldsOf(name, data));
    case 'alignment_invalidated':
      return { kind: 'invalidated', chunkSeq: chunkSeqOf(name, fieldsOf(name, data)) };
    case 'completed':
      return { kind: 'completed', facts: completedOf(fieldsOf(name, data)) };
    case 'error': {
      const fields = fieldsOf(name, data);
      return {
        kind: 'error',
        code: text(fields['code']) ?? '',
        requestId: text(fields['requestId']),
      };
    }
    default:
      return undefined;
  }
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(name: string, data: ByteString): Fields {
  try {
    const value: unknown = JSON.parse(textOf(data));
    if (isFields(value)) return value;
  } catch {
    throw new UnreadableEvent(name, 'has data that is not JSON');
  }
  throw new UnreadableEvent(name, 'has data that is no object');
}

const PLAIN_BEGIN = '{"audioBase64":"';
const PLAIN_END = '"}';

/**
 * The audio where its JSON is as nearly everybody writes it: most of a stream is this, and needs no second
 * copy. Undefined for anything else.
 */
function plainAudio(data: ByteString): Uint8Array | undefined {
  if (!data.startsWith(PLAIN_BEGIN) || !data.endsWith(PLAIN_END)) return undefined;
  return decoded(data.slice(PLAIN_BEGIN.length, -PLAIN_END.length));
}

function audioOf({ audioBase64 }: Fields): Uint8Array {
  if (typeof audioBase64 !== 'string') throw new UnreadableEvent('audio', 'has no audioBase64');
  const bytes = decoded(audioBase64);
  if (bytes !== undefined) return bytes;
  throw new UnreadableEvent('audio', 'has an audioBase64 that is not base64');
}

/** Node skips what is not base64, so that there are fewer bytes than its length promises. */
function decoded(base64: string): Uint8Array | undefined {
  const bytes = Buffer.from(base64, 'base64');
  const padding = base64.endsWith('==') ? 2 : Number(base64.endsWith('='));
  return bytes.length === Math.floor(((base64.length - padding) * 3) / 4) ? bytes : undefined;
}

function snapshotOf(fields: Fields): AlignedEvent {
  const name = 'alignment_snapshot';
  const { units = 'milliseconds', words } = fields;
  if (units !== 'milliseconds') throw new UnreadableEvent(name, 'counts in other units');
  if (!Array.isArray(words)) throw new UnreadableEvent(name, 'has no words');
  return {
    kind: 'snapshot',
    chunkSeq: chunkSeqOf(name, fields),
    words: words.map((word: unknown) => {
      if (isAlignedWord(word)) return { text: word.text, startMs: word.startMs, endMs: word.endMs };
      throw new UnreadableEvent(name, 'has a word without text or times');
    }),
  };
}

function chunkSeqOf(name: string, { chunkSeq }: Fields): number {
  if (typeof chunkSeq === 'number' && Number.isSafeInteger(chunkSeq)) return chunkSeq;
  throw new UnreadableEvent(name, 'has no chunkSeq');
}

function completedOf(fields: Fields): CompletedFacts {
  return {
    // Anything but this word means that some of the times are missing.
    alignmentStatus: fields['alignmentStatus'] === 'complete' ? 'complete' : 'partial',
    requestId: text(fields['requestId']),
    generationId: text(fields['generationId']),
    quotaRemaining: finite(fields['quotaRemaining']),
    creditsUsed: finite(fields['creditsUsed']),
  };
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether it is a word with times that can be. */
export function isAlignedWord(value: unknown): value is AlignedWord {
  if (!isFields(value)) return false;
  const { endMs, startMs, text: said } = value;
  return (
    typeof said === 'string' &&
    finite(startMs) !== undefined &&
    finite(endMs) !== undefined &&
    Number(startMs) >= 0 &&
    Number(endMs) >= Number(startMs)
  );
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function finite(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
