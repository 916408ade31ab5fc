import type { FileFormat } from '../../contract/values.ts';
import { errnoOf, outputFailure } from '../../durable/file-failures.ts';
import type { AudibleInterval, Output, Published, SoundChanges } from '../../durable/output.ts';
import type { FileSystem } from '../../system/file-system.ts';
import { display } from '../../text/display.ts';
import { LoudnessMeter } from '../measure.ts';
import { readWavStream } from '../wav-stream.ts';
import { encodeFile } from './encode-file.ts';
import { FinishedOutput } from './finished-output.ts';
import type { PlannedChanges, StoredSound } from './sound-changes.ts';
import { changedSound, CODEC_LOSS_LU, planChanges } from './sound-changes.ts';
import type { Marks } from './tags.ts';
import { NO_MARKS } from './tags.ts';
import { encodingFailure } from './target.ts';

interface ChangedOutputOptions {
  readonly files: FileSystem;
  readonly format: FileFormat;
  readonly changes: SoundChanges;
  readonly marks: Marks | undefined;
  /** Called with a sentence about a file that could not get the requested loudness. */
  readonly warn: (sentence: string) => void;
}

/** An output for a WAV file whose sound is changed and encoded when the file is complete. */
export class ChangedOutput extends FinishedOutput {
  readonly #options: ChangedOutputOptions;
  #planned: Promise<PlannedFile> | undefined;

  constructor(wav: Output, output: Output, options: ChangedOutputOptions) {
    super(wav, output);
    this.#options = options;
  }

  override get changes(): SoundChanges {
    return this.#options.changes;
  }

  async audible(): Promise<AudibleInterval> {
    const { plan, sound } = await this.#plan();
    const [startMs = 0, endMs = 0] = [plan.from, plan.to].map(
      (sample) => (sample / sound.sampleRate) * 1_000,
    );
    return { startMs, endMs };
  }

  async publish(): Promise<Published> {
    await this.checksum();
    const planned = await this.#plan();
    return this.#publish(planned).catch((error: unknown) => this.#fail(error));
  }

  async #publish({ plan, sound }: PlannedFile): Promise<Published> {
    const { changes, format, marks = NO_MARKS, warn } = this.#options;
    const output = this.finished;
    const meter = new LoudnessMeter(1, sound.sampleRate);
    const changed = changedSound(sound, format, plan);
    const samples = plan.gain === undefined ? changed : metered(changed, meter);
    const { sampleRate } = sound;
    const target = { output, sampleRate, marks: withinPlan(marks, plan, sampleRate) };
    const encoded = { format, sampleRate: await encodeFile(format, samples, target) };
    const checksum = await output.checksum();
    const published = await output.publish();
    const problem =
      changes.loudness === undefined
        ? undefined
        : describeLoudness(changes.loudness, plan, (meter.integrated ?? 0) - CODEC_LOSS_LU[format]);
    if (problem !== undefined) warn(`foley: ${display(published.path)}: ${problem}`);
    const durationMs = ((plan.to - plan.from) / sampleRate) * 1_000;
    return { ...published, encoded: { ...encoded, checksum, durationMs } };
  }

  #plan(): Promise<PlannedFile> {
    this.#planned ??= this.#measure();
    return this.#planned;
  }

  async #measure(): Promise<PlannedFile> {
    const { changes, files, format } = this.#options;
    try {
      const sound = await storedWav(this.temporary ?? '', files);
      return { sound, plan: await planChanges(sound, format, changes) };
    } catch (error) {
      return this.#fail(error);
    }
  }

  #fail(error: unknown): never {
    // The file that the service made cannot be read, for example because its folder was removed.
    if (errnoOf(error) !== undefined) throw outputFailure(this.path, error, 'writing');
    throw encodingFailure(error, this.#options.format);
  }
}

/** A measured sound, and the changes to make to it. */
interface PlannedFile {
  readonly sound: StoredSound;
  readonly plan: PlannedChanges;
}

async function storedWav(file: string, files: FileSystem): Promise<StoredSound> {
  const handle = await files.open(file, 'r');
  const stream = handle.createReadStream();
  const { sampleRate } = await readWavStream(stream).finally(() => stream.destroy());
  return {
    sampleRate,
    async *read() {
      const reader = await files.open(file, 'r');
      const bytes = reader.createReadStream({ highWaterMark: CHUNK_BYTES });
      try {
        yield* (await readWavStream(bytes)).samples;
      } finally {
        bytes.destroy();
      }
    },
  };
}

// The chapters move with the sound.
function withinPlan(
  { chapters, tags }: Marks,
  { from, to }: PlannedChanges,
  sampleRate: number,
): Marks {
  const startMs = (from / sampleRate) * 1_000;
  const endMs = (to / sampleRate) * 1_000;
  const moved = (ms: number): number => Math.min(Math.max(ms, startMs), endMs) - startMs;
  return {
    tags,
    chapters: () =>
      chapters().map((chapter) => {
        return { ...chapter, startMs: moved(chapter.startMs), endMs: moved(chapter.endMs) };
      }),
  };
}

const CHUNK_BYTES = 1 << 18;

async function* metered(
  sound: AsyncIterable<Float32Array>,
  meter: LoudnessMeter,
): AsyncGenerator<Float32Array> {
  for await (const samples of sound) {
    meter.write([samples]);
    yield samples;
  }
}

// A larger difference from the requested loudness is reported.
const REPORTED_LU = 0.5;

function describeLoudness(
  wanted: number,
  { gain }: PlannedChanges,
  made: number,
): string | undefined {
  if (gain === undefined) return 'the sound is too quiet to measure: its loudness is unchanged';
  if (made >= wanted - REPORTED_LU) return undefined;
  return `the peaks allow only ${made.toFixed(1)} LUFS, not ${wanted}: true peaks stay below -1 dBTP`;
}
