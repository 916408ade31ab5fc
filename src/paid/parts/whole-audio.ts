import type { AudioJoiner, Pieces } from '../../audio/join/joiner.ts';
import { createJoiner } from '../../audio/join/join.ts';
import { OggFiles } from '../../audio/join/ogg.ts';
import { UniformMp3 } from '../../audio/join/uniform-mp3.ts';
import type { AudioVerdict } from '../../audio/reader.ts';
import type { Verifier } from '../../audio/verify.ts';
import { createVerifier } from '../../audio/verify.ts';
import type { Marks } from '../../audio/encode/tags.ts';
import { id3Tag, NO_MARKS } from '../../audio/encode/tags.ts';
import type { AlignedWord } from '../../contract/speech.ts';
import type { CodePointRange } from '../../contract/unspoken.ts';
import { parseRanges } from '../../contract/unspoken.ts';
import type { AudioFormat } from '../../contract/values.ts';
import { errnoOf, stateFailure } from '../../durable/file-failures.ts';
import type { Output } from '../../durable/output.ts';
import type { FileSystem } from '../../system/file-system.ts';
import { Failure } from '../../errors/failure.ts';
import { countCodePoints } from '../../text/code-points.ts';
import type { WordTimes } from '../speakers/aligned-transport.ts';
import type { AudioSink } from '../deliver.ts';

interface WholeOptions {
  readonly files: FileSystem;
  readonly output: Output | undefined;
  readonly format: AudioFormat;
  readonly stream: AudioSink;
  readonly sampleRate: () => number | undefined;
  /** Tags and chapters for mp3 and ogg. An output that encodes writes them itself. */
  readonly marks?: Marks | undefined;
}

/** Joins the audio of the parts of a text, with silences between them. */
export class WholeAudio {
  readonly #options: WholeOptions;
  readonly #joiner: AudioJoiner | OggFiles;
  readonly #uniform = new UniformMp3();
  readonly #verifier: Verifier;
  readonly #sink: AudioSink;
  // Length of the ID3 tag at the beginning, in bytes; undefined until the first audio is written.
  #tagBytes: number | undefined;

  constructor(options: WholeOptions) {
    const { format, marks, output, sampleRate, stream } = options;
    this.#options = options;
    const isSeekable = output?.temporary !== undefined;
    this.#verifier = createVerifier(format);
    this.#sink = output ?? stream;
    this.#joiner =
      format === 'ogg'
        ? new OggFiles(
            {
              bytes: 0,
              write: (bytes) => this.#push([bytes]),
              overwrite: async (position, bytes) => output?.overwrite(position, bytes),
            },
            isSeekable ? marks : undefined,
          )
        : createJoiner(format, { isSeekable, sampleRate });
  }

  /** Adds a chunk of a streamed part to the joined audio. */
  async write(chunk: Uint8Array): Promise<void> {
    const joiner = this.#joiner;
    if (joiner instanceof OggFiles) return joiner.write(chunk);
    const ready = this.#options.format === 'mp3' ? this.#uniform.write(chunk) : [chunk];
    for (const bytes of ready) await this.#push(joiner.write(bytes));
  }

  // Chapters get their times later, which changes no length.
  async #id3Tag(): Promise<Uint8Array> {
    const { format, marks = NO_MARKS, output } = this.#options;
    if (format !== 'mp3' || output?.temporary === undefined) return new Uint8Array(0);
    return id3Tag(marks);
  }

  async endPart(): Promise<void> {
    const joiner = this.#joiner;
    if (joiner instanceof OggFiles) return joiner.endPart();
    for (const bytes of await this.#uniform.endPart()) await this.#push(joiner.write(bytes));
    await this.#push(joiner.endPart());
  }

  /** Adds the file of a saved part to the joined audio. */
  async add(file: string): Promise<void> {
    const failed = (error: unknown): never => {
      throw stateFailure('the audio of a part', file, error);
    };
    const handle = await this.#options.files.open(file, 'r').catch(failed);
    const stream = handle.createReadStream({ highWaterMark: CHUNK_BYTES });
    try {
      for await (const chunk of stream) await this.write(chunk);
    } catch (error) {
      if (error instanceof Failure || errnoOf(error) === undefined) throw error;
      failed(error);
    } finally {
      stream.destroy();
    }
    await this.endPart();
  }

  /** Adds silence before the next part, or after the last one. */
  addSilence(ms: number): void {
    this.#joiner.addSilence(ms);
  }

  starts(): readonly number[] {
    return this.#joiner.starts();
  }

  /** Returns the duration of the audio that is joined so far, in milliseconds. */
  durationMs(): number {
    return this.#joiner.durationMs();
  }

  /** Writes the final headers, and verifies the joined audio. @throws Failure of kind `bad_answer` or `output` */
  async finish(): Promise<AudioVerdict> {
    const { output } = this.#options;
    const joiner = this.#joiner;
    if (joiner instanceof OggFiles) {
      await joiner.end();
    } else {
      await this.#push(joiner.end());
      for (const { position, bytes } of joiner.corrections()) {
        await output?.overwrite((this.#tagBytes ?? 0) + position, bytes);
      }
      const tag = await this.#id3Tag();
      if (tag.length > 0) await output?.overwrite(0, tag);
    }
    const verdict =
      output?.temporary === undefined
        ? this.#verifier.end()
        : await this.#checkFile(output, output.temporary);
    const { problem } = verdict;
    if (problem === undefined) return verdict;
    throw new Failure(`the joined audio ${problem}`, {
      code: 'bad_answer',
      exit: 'badAnswer',
      hint: 'If this error happens again, try another --format, or speak the text in pieces.',
    });
  }

  async #checkFile(output: Output, file: string): Promise<AudioVerdict> {
    // Writes all buffered bytes first.
    await output.checksum();
    const verifier = createVerifier(this.#options.format);
    const handle = await this.#options.files.open(file, 'r');
    for await (const chunk of handle.createReadStream({ highWaterMark: CHUNK_BYTES })) {
      verifier.write(chunk);
    }
    return verifier.end();
  }

  async #push(pieces: Pieces): Promise<void> {
    for (const bytes of pieces) {
      if (bytes.length === 0) continue;
      if (this.#tagBytes === undefined) {
        const tag = await this.#id3Tag();
        this.#tagBytes = tag.length;
        if (tag.length > 0) await this.#sink.write(tag);
      }
      if (this.#options.output?.temporary === undefined) this.#verifier.write(bytes);
      await this.#sink.write(bytes);
    }
  }
}

const CHUNK_BYTES = 1 << 18;

/** The words of one part of a text. Their times are relative to the start of the part's audio. */
export type PartWords = Pick<WordTimes, 'isComplete' | 'words'>;

/** Collects the words of all parts of a text, and converts their times to positions in the joined audio. */
export class WholeWords {
  readonly #parts: PartWords[] = [];
  #isComplete = true;

  add(words: PartWords): void {
    this.#parts.push(words);
    this.#isComplete &&= words.isComplete;
  }

  /** Records that a part has no audio and that its words have no times. */
  leaveOut(): void {
    this.#isComplete = false;
  }

  /**
   * Returns the words of all parts, in order.
   * @param starts where each part begins in the joined audio, in milliseconds
   */
  speech(starts: readonly number[], durationMs: number | undefined): WordTimes {
    const parts = this.#parts.map((part, index) => shifted(part.words, starts[index] ?? 0));
    const words = parts.flat();
    // A word that begins after the end of its part has no correct time.
    const areInTime = parts.every((part, index) => {
      const endMs = starts[index + 1] ?? durationMs ?? Infinity;
      return part.every(({ startMs }) => startMs < endMs);
    });
    return {
      words,
      isComplete: this.#isComplete && areInTime,
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

/**
 * Converts the unspoken ranges of each part to ranges in the whole text.
 * @param parts where each part starts in the text, in UTF-16 code units
 * @param unspokenOf returns the unspoken ranges of a part, in the format of the header `X-Foley-Unspoken`
 */
export function wholeRanges(
  text: string,
  parts: readonly { readonly start: number }[],
  unspokenOf: (index: number) => string | undefined,
): readonly CodePointRange[] {
  let [units, position] = [0, 0];
  return parts.flatMap((part, index) => {
    position += countCodePoints(text.slice(units, part.start));
    units = part.start;
    const before = position;
    const ranges = parseRanges(unspokenOf(index) ?? '') ?? [];
    return ranges.map(({ start, end }) => ({ start: before + start, end: before + end }));
  });
}
