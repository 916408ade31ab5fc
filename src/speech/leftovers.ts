import type { Clock } from '../effects/clock.ts';
import type { OpenIntent } from '../files/intents.ts';
import type { SpoolEntry } from '../files/spool.ts';
import type { LeftText } from './long-text/record-list.ts';

/** One thing that an interrupted command left behind. */
export type Leftover =
  /** Audio in the spool, with its operation where that has not ended. */
  | {
      readonly kind: 'audio';
      readonly id: string;
      readonly entry: SpoolEntry;
      readonly intent: OpenIntent | undefined;
    }
  | { readonly kind: 'request'; readonly id: string; readonly intent: OpenIntent }
  /** A text that is spoken in parts. */
  | { readonly kind: 'text'; readonly id: string; readonly left: LeftText }
  | DamagedRecord;

/** Something of foley's own that cannot be read; it stays until `foley recover --forget ID`. */
export interface DamagedRecord {
  readonly kind: 'damaged';
  readonly id: string;
  /** The folder or file first, then what goes with it. */
  readonly paths: readonly string[];
  /** What it is, and what is in it. */
  readonly holds: string;
  /** Parts of it can be read and are still needed, so that it cannot be forgotten. */
  readonly isInUse?: boolean;
}

/** What became of it. */
export interface Recovered {
  readonly id: string;
  /**
   * `recovered`: it is in `output` now; `partial`: so is what could be spoken of it; `refunded`: its
   * job failed and cost nothing; `lost`: paid for, and at most a part of it is in `output`; `unknown`:
   * nobody can tell whether it was paid for; `running`: a command works on it, or has just settled it;
   * `failed`: it is where it was, for the reason in `problem`; `damaged`: foley cannot read its record, which
   * is where `problem` says.
   */
  readonly outcome:
    | 'recovered'
    | 'partial'
    | 'refunded'
    | 'lost'
    | 'unknown'
    | 'running'
    | 'failed'
    | 'damaged';
  readonly output: string | null;
  readonly creditsUsed: number | null;
  readonly requestId: string | null;
  /** Of the job, where it was one. */
  readonly jobId: string | null;
  /** With it the same command can be run again without paying twice. */
  readonly idempotencyKey: string | null;
  /** It was a realtime conversation, whose key is its request id. */
  readonly isRealtime?: true;
  /** The loss was reported by an earlier `foley recover`. */
  readonly isReported?: true;
  readonly problem: string | null;
}

/** What is left behind: audio in the spool, requests without a known end and without audio, long texts. */
export function leftovers(
  entries: readonly SpoolEntry[],
  intents: readonly OpenIntent[],
  texts: readonly LeftText[] = [],
  damaged: readonly DamagedRecord[] = [],
): readonly Leftover[] {
  const intentOf = (entry: SpoolEntry): OpenIntent | undefined =>
    intents.find(({ id }) => id === entry.record?.operation);
  const withAudio = new Set(entries.map(({ record }) => record?.operation));
  return [
    ...entries.map((entry): Leftover => {
      const { bytes, id, path, record, sidecar } = entry;
      if (record !== undefined) return { kind: 'audio', id, entry, intent: intentOf(entry) };
      const holds = `${bytes} bytes of audio, without what is known about it`;
      return { kind: 'damaged', id, paths: [path, sidecar], holds };
    }),
    ...intents
      .filter(({ id }) => !withAudio.has(id))
      .map((intent) => ({ kind: 'request', id: intent.id, intent }) as const),
    ...texts.map((left) => ({ kind: 'text', id: left.id, left }) as const),
    ...damaged,
  ];
}

/**
 * How long after its last note a command is believed to run of which nothing can be known: on another
 * machine or in another container, or where the system tells no start times.
 */
const BELIEVED_MS = 60 * 60 * 1000;

/** Whether the command that began it may still work on it, so that nobody else may. */
export function mayRun({ at, writer }: Pick<OpenIntent, 'at' | 'writer'>, clock: Clock): boolean {
  if (writer !== 'unknown') return writer === 'alive';
  return clock.now() - Date.parse(at) < BELIEVED_MS;
}
