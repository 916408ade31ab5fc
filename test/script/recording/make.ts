import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  openRecording,
  type RecordingOptions,
  type SpokenLine,
} from '../../../src/script/recording/recording.ts';
import { testSystem } from '../../files/file-simulation.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { writeWav } from '../../harness/wav.ts';

/** A line whose sound is a tone, with the other fields of a spoken line. */
export interface ToneLine extends Partial<SpokenLine> {
  /** Length of the tone; default 1. */
  readonly seconds?: number;
  /** Takes the place of the tone. */
  readonly samples?: Float32Array | undefined;
  readonly hertz?: number;
  readonly level?: number;
  readonly sampleRate?: number;
  /** Whether the tone begins and ends in the middle of a wave. */
  readonly isCut?: boolean;
}

/** Returns the samples of a line. */
export function tone({ hertz = 440, isCut = false, level = 0.3, ...line }: ToneLine) {
  const { sampleRate = 44_100, seconds = 1 } = line;
  const length = Math.round(seconds * sampleRate);
  return Float32Array.from({ length }, (_, at) => {
    const edge = isCut ? 1 : Math.min(1, at / 200, (length - 1 - at) / 200);
    return level * edge * Math.sin((2 * Math.PI * hertz * at) / sampleRate + (isCut ? 1 : 0));
  });
}

/** Makes a recording in a sandbox from tones. */
export async function make(tones: readonly ToneLine[], changes: Partial<RecordingOptions> = {}) {
  const { out } = await createSandbox();
  const temporaryFolder = path.join(out, 'talk.foley');
  await mkdir(temporaryFolder);
  const { format = 'wav', stems } = changes;
  const folder = path.resolve(out, stems?.folder ?? 'stems');
  const file = path.join(out, `talk.${format}`);
  const lines = await Promise.all(
    tones.map(async (line, index): Promise<SpokenLine> => {
      const audio = path.join(temporaryFolder, `${index}.wav`);
      await writeFile(audio, writeWav(line.samples ?? tone(line), line.sampleRate ?? 44_100));
      return { speaker: 'ADA', text: `Line ${index + 1}.`, audio, pauseAfterMs: 0, ...line };
    }),
  );
  const { signal } = new AbortController();
  const options = { system: testSystem(), path: file, format, temporaryFolder, signal };
  const opened = await openRecording({
    ...options,
    timing: 'stretch',
    loudness: 'off',
    ...changes,
    ...(stems === undefined ? {} : { stems: { ...stems, folder } }),
  });
  return {
    ...(await opened.make(lines)),
    file,
    out,
    stems: folder,
    audio: lines.map(({ audio }) => audio),
  };
}
