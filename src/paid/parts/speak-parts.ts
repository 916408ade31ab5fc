import type { ApiClient } from '../../api/client.ts';
import type { SpeechOrder } from '../../api/resources/speech.ts';
import type { AudioVerdict } from '../../audio/reader.ts';
import { mapOrdered } from '../../system/concurrency.ts';
import { Failure } from '../../errors/failure.ts';
import type { WordTimes } from '../speakers/aligned-transport.ts';
import { isUnspeakable } from './plan.ts';
import type { PartWords, WholeAudio } from './whole-audio.ts';
import { WholeWords } from './whole-audio.ts';

/** A part of a text that is spoken in several requests. */
export interface SpokenPart {
  readonly order: SpeechOrder;
  /**
   * Gets the audio of the part: buys it, downloads it or finds it on this computer. Returns false if an earlier command
   * left the part out.
   * @throws Failure; the record of the part then says how to continue
   */
  speak(): Promise<boolean>;
  /** Records that the part has no audio, because the service refused its text. Nothing was billed. */
  leaveOut(refusal: Failure): Promise<void>;
  /** Adds the audio of the part to that of the whole text. */
  join(whole: WholeAudio): Promise<void>;
  /** Returns the word times of the part; undefined if they are not needed. */
  words(): Promise<PartWords | undefined>;
}

interface PartsOptions {
  readonly client: ApiClient;
  readonly signal?: AbortSignal | undefined;
  readonly concurrency: number;
  /** Maximum number of parts that are bought before the first of them is joined. */
  readonly ahead: number;
  /** Milliseconds of silence before each part and after the last one. */
  readonly silences: readonly number[];
  /** Adds the number of a part to the message of its failure; default: nothing. */
  readonly inPart?: ((failure: Failure, index: number) => Failure) | undefined;
  /** Called with the index of a part that is joined; `hasAudio` is false if the part was left out. */
  readonly onJoined?: ((index: number, hasAudio: boolean) => Promise<void>) | undefined;
  /** Called when all parts are joined, before the whole audio is verified. */
  readonly onSpoken?: (() => void) | undefined;
}

/** The joined audio of all parts, and the times of its words. */
export interface JoinedParts {
  readonly verdict: AudioVerdict;
  readonly speech: WordTimes;
}

/**
 * Speaks the parts of a text concurrently, and joins their audio in order with silences between them. Leaves out the
 * parts whose text the service refuses. After a failure, starts no further part and waits for those that are running.
 * @throws Failure. If several parts failed, the failure of one that may be billed outweighs one that is not. If no part
 * has audio, the first refusal
 */
export async function speakParts(
  parts: readonly SpokenPart[],
  whole: WholeAudio,
  options: PartsOptions,
): Promise<JoinedParts> {
  const { ahead, client, concurrency, inPart, onJoined, onSpoken, signal, silences } = options;
  const words = new WholeWords();
  const failures: Failure[] = [];
  const refusals: Failure[] = [];
  let spoken = 0;
  const speak = async (part: SpokenPart, index: number): Promise<boolean> => {
    try {
      return await part.speak();
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (!(await isUnspeakable(error, client, part.order, signal))) {
        const failure = inPart?.(error, index) ?? error;
        failures.push(failure);
        throw failure;
      }
      refusals.push(error);
      await part.leaveOut(error);
      return false;
    }
  };
  const join = async (part: SpokenPart, hasAudio: boolean): Promise<void> => {
    if (!hasAudio) return words.leaveOut();
    spoken += 1;
    await part.join(whole);
    const times = await part.words();
    if (times !== undefined) words.add(times);
  };
  whole.addSilence(silences[0] ?? 0);
  try {
    await mapOrdered({
      count: parts.length,
      concurrency,
      ahead,
      work: async (index) => {
        const part = parts[index];
        return { part, hasAudio: part !== undefined && (await speak(part, index)) };
      },
      take: async ({ hasAudio, part }, index) => {
        if (part !== undefined) await join(part, hasAudio);
        whole.addSilence(silences[index + 1] ?? 0);
        await onJoined?.(index, hasAudio);
      },
    });
  } catch (first) {
    throw isUnbilled(first) ? (failures.find((one) => !isUnbilled(one)) ?? first) : first;
  }
  const [refusal] = refusals;
  if (refusal !== undefined && spoken === 0) throw refusal;
  onSpoken?.();
  const verdict = await whole.finish();
  return { verdict, speech: words.speech(whole.starts(), verdict.durationMs) };
}

function isUnbilled(error: unknown): boolean {
  return error instanceof Failure && error.billed === 'no';
}
