import type { AlignedCompleted, AlignedWord } from '../../contract/schemas/aligned.ts';
import type { AudioBlock } from './audio-block.ts';
import type { ByteString } from './sse-events.ts';
import { textOf } from './sse-events.ts';

/** What an event of an aligned stream says (spec section 6.1). Audio itself goes into a block. */
export type AlignedEvent =
  | { readonly kind: 'audio' }
  | {
      readonly kind: 'snapshot';
      readonly chunkSeq: number;
      /** Those that can be read. */
      readonly words: readonly AlignedWord[];
      /** All of them could be read. */
      readonly isWhole: boolean;
    }
  /** Without a number: the times of some chunk are lost, and nobody knows which. */
  | { readonly kind: 'invalidated'; readonly chunkSeq: number | undefined }
  | { readonly kind: 'completed'; readonly facts: CompletedFacts }
  | {
      readonly kind: 'error';
      readonly code: string;
      readonly message: string | undefined;
      readonly requestId: string | undefined;
    };

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
 * @param block what audio is added to
 * @throws UnreadableEvent
 */
export function readAlignedEvent(
  name: string,
  data: ByteString,
  block: Pick<AudioBlock, 'add'>,
): AlignedEvent | undefined {
  switch (name) {
    case 'audio':
      if (!addPlain(data, block)) addAudio(fieldsOf(name, data), block);
      return { kind: 'audio' };
    case 'alignment_snapshot':
      return snapshotOf(fieldsIn(data) ?? {});
    case 'alignment_invalidated':
      return { kind: 'invalidated', chunkSeq: chunkSeqOf(fieldsIn(data) ?? {}) };
    case 'completed':
      return { kind: 'completed', facts: completedOf(fieldsOf(name, data)) };
    case 'error': {
      const fields = fieldsOf(name, data);
      return {
        kind: 'error',
        code: text(fields['code']) ?? '',
        message: text(fields['message']),
        requestId: text(fields['requestId']),
      };
    }
    default:
      return undefined;
  }
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(name: string, data: ByteString): Fields {
  const fields = fieldsIn(data);
  if (fields !== undefined) return fields;
  throw new UnreadableEvent(name, 'has data that is not a JSON object');
}

function fieldsIn(data: ByteString): Fields | undefined {
  try {
    const value: unknown = JSON.parse(textOf(data));
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const PLAIN_BEGIN = '{"audioBase64":"';
const PLAIN_END = '"}';

/**
 * Adds the audio where its JSON is as nearly everybody writes it: most of a stream is this, and needs no
 * second copy. A block takes nothing but base64, which has no quotes and nothing escaped: JSON would read
 * the same.
 */
function addPlain(data: ByteString, block: Pick<AudioBlock, 'add'>): boolean {
  return (
    data.startsWith(PLAIN_BEGIN) &&
    data.endsWith(PLAIN_END) &&
    block.add(data.slice(PLAIN_BEGIN.length, -PLAIN_END.length))
  );
}

function addAudio({ audioBase64 }: Fields, block: Pick<AudioBlock, 'add'>): void {
  if (typeof audioBase64 !== 'string') throw new UnreadableEvent('audio', 'has no audioBase64');
  if (block.add(audioBase64)) return;
  throw new UnreadableEvent('audio', 'has an audioBase64 that is not base64');
}

/** Times that cannot be read are lost; the audio, which is paid for, is not. */
function snapshotOf(fields: Fields): AlignedEvent {
  const { units = 'milliseconds', words } = fields;
  const chunkSeq = chunkSeqOf(fields);
  if (chunkSeq === undefined || units !== 'milliseconds' || !Array.isArray(words)) {
    return { kind: 'invalidated', chunkSeq };
  }
  const readable = words.filter((word: unknown) => isAlignedWord(word));
  return {
    kind: 'snapshot',
    chunkSeq,
    words: readable.map(({ endMs, startMs, text: said }) => ({ text: said, startMs, endMs })),
    isWhole: readable.length === words.length,
  };
}

function chunkSeqOf({ chunkSeq }: Fields): number | undefined {
  return typeof chunkSeq === 'number' && Number.isSafeInteger(chunkSeq) ? chunkSeq : undefined;
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
