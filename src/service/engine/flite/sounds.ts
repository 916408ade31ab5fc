/** A sound of speech with its time, as flite tells it. */
export interface TimedSound {
  /** flite's name of it, such as `ae`; `PAUSE` for silence. */
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** A line that flite printed while it spoke. */
export interface PrintedLine {
  readonly text: string;
  /** How many samples there were before the sentence that the line is about. */
  readonly samplesBefore: number;
}

export const PAUSE = 'pau';

/**
 * The sounds of what flite said with `-psdur`, a line for each of its sentences. What it tells is
 * what it planned: exact but for the pause at the end, of which it makes less. So each sentence begins
 * where its samples do, and ends with them.
 * @param samples how many there are in all
 */
export function timedSounds(
  lines: readonly PrintedLine[],
  samples: number,
  sampleRate: number,
): TimedSound[] {
  return lines.flatMap(({ text, samplesBefore }, index) => {
    const startMs = (samplesBefore * 1000) / sampleRate;
    const endMs = ((lines[index + 1]?.samplesBefore ?? samples) * 1000) / sampleRate;
    const planned = plannedEnds(text);
    const at = (seconds: number): number => Math.min(endMs, startMs + seconds * 1000);
    return planned.map(({ name, end }, sound) => ({
      name,
      startMs: at(planned[sound - 1]?.end ?? 0),
      endMs: at(end),
    }));
  });
}

/** Names of the sounds of a line without times, and without pauses. */
export function soundNames(line: string): string[] {
  return line.split(' ').filter((name) => name !== '' && name !== PAUSE);
}

/** `pau:0.164 hh:0.255`, in seconds from the beginning of the sentence. */
function plannedEnds(line: string): { readonly name: string; readonly end: number }[] {
  return Array.from(line.matchAll(/(\S+):(\d+\.\d+)/g), ([, name = '', end]) => ({
    name,
    end: Number(end),
  }));
}
