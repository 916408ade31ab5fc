import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { execa } from 'execa';
import { requireTool } from './require-tool.ts';
import {
  LISTENER,
  LISTENING_MARGIN_MS,
  LISTENING_RATE,
  type MonoSound,
  prepared,
} from './spoken-words.ts';
import { writeWav } from './wav.ts';

export interface HeardWord {
  /** In lower case. */
  readonly word: string;
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * When each of the words is heard in a sound by a listener that is independent of every engine, to a
 * hundredth of a second. It gets the words, and none of their times. Skips the
 * test where it is missing.
 *
 * @param words in lower case, as its dictionary has them
 */
export async function heardWords(
  sound: MonoSound,
  words: readonly string[],
): Promise<readonly HeardWord[]> {
  const listener = requireTool(LISTENER);
  const folder = await mkdtemp(path.join(tmpdir(), 'foley-hearing-'));
  const file = (name: string): string => path.join(folder, name);
  try {
    await writeFile(file('sound.wav'), writeWav(prepared(sound).samples, LISTENING_RATE));
    await writeFile(file('list'), 'sound\n');
    const grammar = `#JSGF V1.0;\ngrammar words;\npublic <words> = ${words.join(' ')};\n`;
    await writeFile(file('words.gram'), grammar);
    const input = ['-adcin', 'yes', '-adchdr', '44', '-cepext', '.wav', '-cepdir', folder];
    const output = ['-ctl', file('list'), '-hypseg', file('heard'), '-logfn', file('log')];
    await execa(listener, [
      ...input,
      ...output,
      '-remove_silence',
      'no',
      '-cmn',
      'batch',
      '-jsgf',
      file('words.gram'),
    ]);
    return wordsOf(await readFile(file('heard'), 'utf8'));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Of the listener's frames. */
const FRAME_MS = 10;

/**
 * `sound S 0 T -1 A -1 L -1 0 -1 -1 <sil> 18 -1 0 the 31 … 383`: before each word the frame that it
 * begins at and two scores; the last number is the end.
 */
function wordsOf(line: string): HeardWord[] {
  const segments = [...line.matchAll(/(\d+) -?\d+ -?\d+ (\S+)(?= (\d+))/g)];
  return segments.flatMap(([, start, name = '', end]) => {
    if (!/^[a-z]/.test(name)) return [];
    const word = name.replace(/\(\d+\)$/, '');
    return [{ word, startMs: timeOf(start), endMs: timeOf(end) }];
  });
}

function timeOf(frame: string | undefined): number {
  return Number(frame) * FRAME_MS - LISTENING_MARGIN_MS;
}
