import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { inspectEngine } from '../../../src/engines/inspect-engine.ts';
import { engineLauncher } from '../../../src/service/engine/process/launch-engine.ts';
import { createProcessEngine } from '../../../src/service/engine/process/process-engine.ts';
import type { SpeechEngine } from '../../../src/service/engine/speech-engine.ts';
import { installPythonTools } from '../../harness/python-tools.ts';
import { prepared } from '../../harness/spoken-words.ts';
import { writeWav } from '../../harness/wav.ts';
import { type Spoken, wholeSpeech } from '../../service/engine/process/engine-under-test.ts';
import { countWordErrors, sentencesOf } from '../word-errors/count-word-errors.ts';

const ENGINES = fileURLToPath(new URL('../../../engines/', import.meta.url));
const PYTHON_FILES = fileURLToPath(new URL('../python/', import.meta.url));
const SENTENCES = fileURLToPath(new URL('../word-errors/sentences.tsv', import.meta.url));

/** An engine of natural voices, with the models of a folder. */
export async function neuralEngine(name: 'piper', modelFolder: string): Promise<SpeechEngine> {
  const script = new URL('../../../scripts/install-engine-packages.mjs', import.meta.url).href;
  (await import(script)).setup();
  const args = ['engine.mjs', '--model-folder', modelFolder];
  const command = { name, command: 'node', args, cwd: path.join(ENGINES, name) };
  const launch = engineLauncher({ env: process.env, nodePath: process.execPath });
  const registration = { ...command, ...(await inspectEngine(command, { launch })) };
  return createProcessEngine({ registration, launch, processes: 1 });
}

/**
 * Speaks the 120 sentences of the check of word errors, and lets a recognizer with a large vocabulary hear them.
 * @returns the number of words, the number of wrong ones in all and in the sentences without numbers, and the speech
 */
export async function wordErrorsOf(engine: SpeechEngine, voice: string) {
  const sentences = sentencesOf(await readFile(SENTENCES, 'utf8'));
  const bin = await installPythonTools(path.join(PYTHON_FILES, 'recognizer.txt'));
  const folder = await mkdtemp(path.join(tmpdir(), 'foley-word-errors-'));
  try {
    const speech: Spoken[] = [];
    const files: string[] = [];
    for (const [index, { written }] of sentences.entries()) {
      const spoken = await wholeSpeech(engine, { voice, text: written, isTimed: true });
      const file = path.join(folder, `${index}.wav`);
      const { samples, sampleRate } = prepared(spoken);
      await writeFile(file, writeWav(samples, sampleRate));
      speech.push(spoken);
      files.push(file);
    }
    const script = path.join(PYTHON_FILES, 'recognize.py');
    const input = files.join('\n');
    const { stdout } = await execa(path.join(bin, 'python'), [script], { input });
    const heard = stdout.split('\n');
    const isPlain = sentences.map(({ written }) => /^[^\d]*$/.test(written.replace(/\.$/, '')));
    const plain = countWordErrors(
      sentences.filter((_, index) => isPlain[index]),
      heard.filter((_, index) => isPlain[index]),
    );
    return { ...countWordErrors(sentences, heard), plain, speech };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
