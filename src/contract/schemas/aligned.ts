import { Type } from 'typebox';
import type { Static } from 'typebox';

/** Events of an aligned stream, by the name that each has on the wire (docs/api/speech.md#aligned-stream). */
export const ALIGNED_EVENTS = [
  'audio',
  'alignment_snapshot',
  'alignment_invalidated',
  'completed',
  'error',
] as const;

/** `complete`: everything that was to be said has its times; `partial`: some chunk has none. */
export const ALIGNMENT_STATUSES = ['complete', 'partial'] as const;
export type AlignmentStatus = (typeof ALIGNMENT_STATUSES)[number];

const ChunkSeq = Type.Integer({ minimum: 0, description: 'Number of the stretch of text' });

/** Data of `audio`. */
export const AlignedAudio = Type.Object(
  { audioBase64: Type.String({ description: 'The next bytes of the file, in base64' }) },
  { $id: 'AlignedAudio' },
);

/** A word of a snapshot; times are from the beginning of the full audio. */
export const AlignedWord = Type.Object(
  {
    text: Type.String({ description: 'The word, as the submitted text has it' }),
    startMs: Type.Number({ minimum: 0 }),
    endMs: Type.Number({ minimum: 0 }),
  },
  { $id: 'AlignedWord' },
);
export type AlignedWord = Static<typeof AlignedWord>;

/** Data of `alignment_snapshot`: replaces the one before it of the same chunk. */
export const AlignmentSnapshot = Type.Object(
  {
    chunkSeq: ChunkSeq,
    units: Type.Literal('milliseconds'),
    words: Type.Array(AlignedWord),
  },
  { $id: 'AlignmentSnapshot' },
);
export type AlignmentSnapshot = Static<typeof AlignmentSnapshot>;

/** Data of `alignment_invalidated`: the chunk has no times; its audio stays valid. */
export const AlignmentInvalidated = Type.Object(
  { chunkSeq: ChunkSeq },
  { $id: 'AlignmentInvalidated' },
);
export type AlignmentInvalidated = Static<typeof AlignmentInvalidated>;

/** Data of `completed`, the last event of a stream that succeeded. */
export const AlignedCompleted = Type.Object(
  {
    requestId: Type.String(),
    generationId: Type.String(),
    alignmentStatus: Type.Enum([...ALIGNMENT_STATUSES]),
    quotaRemaining: Type.Integer(),
    creditsUsed: Type.Number({ minimum: 0 }),
  },
  { $id: 'AlignedCompleted' },
);
export type AlignedCompleted = Static<typeof AlignedCompleted>;

/** Data of `error`, the last event of a stream that failed after it had begun. */
export const AlignedError = Type.Object(
  {
    requestId: Type.String(),
    code: Type.String(),
    message: Type.Optional(Type.String({ description: 'Why, for people (ours)' })),
  },
  { $id: 'AlignedError' },
);
export type AlignedError = Static<typeof AlignedError>;
