import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { installPythonTools } from './python-tools.ts';
import { LISTENING_MARGIN_MS, LISTENING_RATE, type MonoSound, prepared } from './spoken-words.ts';
import { writeWav } from './wav.ts';

export interface HeardWord {
  /** In lower case. */
  readonly word: string;
  readonly startMs: number;
  readonly endMs: number;
}

const PYTHON_FILES = fileURLToPath(new URL('../check/python', import.meta.url));

/**
 * Returns when pocketsphinx, a recognizer that is independent of every engine, hears each of the words in a sound, to a
 * hundredth of a second. It gets the words, and none of their times. Installs pocketsphinx from PyPI.
 *
 * @param words in lower case, as its dictionary has them
 */
export async function heardWords(
  sound: MonoSound,
  words: readonly string[],
): Promise<readonly HeardWord[]> {
  const bin = await installPythonTools(path.join(PYTHON_FILES, 'recognizer.txt'));
  const folder = await mkdtemp(path.join(tmpdir(), 'foley-hearing-'));
  try {
    const file = path.join(folder, 'sound.wav');
    await writeFile(file, writeWav(prepared(sound).samples, LISTENING_RATE));
    const script = path.join(PYTHON_FILES, 'hear_words.py');
    const { stdout } = await execa(path.join(bin, 'python'), [script, file, words.join(' ')]);
    return stdout.split('\n').map((line) => {
      const [start, end, word = ''] = line.split(' ');
      return { word, startMs: timeOf(start), endMs: timeOf(end) };
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

function timeOf(milliseconds: string | undefined): number {
  return Number(milliseconds) - LISTENING_MARGIN_MS;
}
