import { isAlignedWord } from '../../api/aligned/aligned-events.ts';
import type { AlignedWord } from '../../contract/schemas/aligned.ts';
import type { FileSystem } from '../../effects/file-system.ts';
import type { FileDeps } from '../../files/file-deps.ts';
import { hasErrno } from '../../files/errno.ts';
import { readOwnText, RECORD_BYTES } from '../../files/own-files.ts';
import { replaceFile } from '../../files/replace-file.ts';
import { stateFailure } from '../../files/state-failures.ts';
import type { AlignedSpeech } from '../aligned-way.ts';

/** The words of one part, timed from the beginning of its own audio. */
export type PartWords = Pick<AlignedSpeech, 'isComplete' | 'words'>;

/**
 * Writes the words of a part down; they are on the disk when this resolves.
 * @throws Failure (state)
 */
export async function writePartWords(
  file: string,
  { isComplete, words }: PartWords,
  deps: FileDeps,
): Promise<void> {
  const data = Buffer.from(JSON.stringify({ isComplete, words }));
  await replaceFile({ ...deps, path: file, data, mode: 0o600 }).catch((error: unknown) => {
    throw stateFailure('the times of a part', file, error);
  });
}

/**
 * The words of a part, as they were written down; undefined where they are not there.
 * @throws Failure (state) when they cannot be read
 */
export async function readPartWords(
  file: string,
  files: FileSystem,
): Promise<PartWords | undefined> {
  try {
    return parsed(JSON.parse(await readOwnText(file, RECORD_BYTES, files)));
  } catch (error) {
    if (hasErrno(error, 'ENOENT') || error instanceof SyntaxError) return undefined;
    throw stateFailure('the times of a part', file, error);
  }
}

function parsed(value: unknown): PartWords | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { isComplete, words }: Partial<Record<string, unknown>> = Object.fromEntries(
    Object.entries(value),
  );
  if (typeof isComplete !== 'boolean' || !Array.isArray(words)) return undefined;
  const all = words.filter((word: unknown) => isAlignedWord(word));
  return all.length === words.length ? { isComplete, words: all } : undefined;
}

/** The words of all parts, on the clock of the whole. */
export class WholeWords {
  readonly #parts: PartWords[] = [];

  /** Takes the words of the next part. */
  add(words: PartWords): void {
    this.#parts.push(words);
  }

  /**
   * All words, from the beginning of the whole.
   * @param starts where each part begins in it, in milliseconds
   */
  speech(starts: readonly number[], durationMs: number | undefined): AlignedSpeech {
    const words = this.#parts.flatMap((part, index) => shifted(part.words, starts[index] ?? 0));
    return {
      words,
      isComplete: this.#parts.every(({ isComplete }) => isComplete),
      durationMs: durationMs ?? words.at(-1)?.endMs ?? 0,
    };
  }
}

function shifted(words: readonly AlignedWord[], startMs: number): readonly AlignedWord[] {
  return words.map((word) => ({
    text: word.text,
    startMs: Math.max(0, word.startMs + startMs),
    endMs: Math.max(0, word.endMs + startMs),
  }));
}
