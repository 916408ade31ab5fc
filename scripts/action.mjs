// The steps of action.yml: `read` finds the texts and their digest, `speak` speaks them. Inputs are in the environment.
import { spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { root } from './set-up.mjs';

const { env } = process;
const { INPUT_FOLDER = '', INPUT_FORMAT, INPUT_SUBTITLES, INPUT_VOICE } = env;

if (process.argv[2] === 'read') read();
else speak();

function read() {
  const { INPUT_TEXT = '' } = env;
  if ((INPUT_TEXT === '') === (INPUT_FOLDER === '')) return fail('Set `text` or `folder`.');
  if (INPUT_FOLDER !== '' && !statSync(INPUT_FOLDER, { throwIfNoEntry: false })?.isDirectory()) {
    return fail('No such folder: the input `folder` must be a folder of the repository.');
  }
  const folder = INPUT_FOLDER === '' ? path.join(env.RUNNER_TEMP, 'foley-text') : INPUT_FOLDER;
  if (INPUT_FOLDER === '') {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'speech.txt'), INPUT_TEXT);
  }
  output('folder', folder);
  output('digest', digestOf(folder));
}

/** Digest of the options and of the names and contents of all files. */
function digestOf(folder) {
  const hash = createHash('sha256');
  hash.update(JSON.stringify([INPUT_VOICE, INPUT_FORMAT, INPUT_SUBTITLES]));
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()) {
    const file = path.join(folder, name);
    if (!statSync(file).isFile()) continue;
    const content = createHash('sha256').update(readFileSync(file)).digest('hex');
    hash.update(JSON.stringify([name, content]));
  }
  return hash.digest('hex');
}

function speak() {
  const { INPUT_OUTPUT_DIR } = env;
  const report = path.join(env.RUNNER_TEMP, `foley-report-${randomUUID()}.json`);
  const { status } = spawnSync(
    process.execPath,
    [
      path.join(root, 'bin/foley.cjs'),
      'batch',
      `--output-dir=${INPUT_OUTPUT_DIR}`,
      '--name={dir}/{name}.{ext}',
      `--format=${INPUT_FORMAT}`,
      `--report=${report}`,
      ...(INPUT_SUBTITLES ? [`--subtitles=${INPUT_SUBTITLES}`] : []),
      ...(INPUT_VOICE ? [`--voice=${INPUT_VOICE}`] : []),
      '--',
      INPUT_FOLDER,
    ],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  if (existsSync(report)) output('paths', pathsIn(report).join('\n'));
  process.exitCode = status ?? 1;
}

/** The audio and caption files of a report, in the order of the texts. */
function pathsIn(report) {
  const { outputDir, items } = JSON.parse(readFileSync(report, 'utf8'));
  const inOrder = items.toSorted((one, other) => one.index - other.index);
  return inOrder.flatMap(({ output: audio }) => {
    if (audio === null) return [];
    const { dir, name } = path.parse(path.join(outputDir, audio));
    const files = [path.join(outputDir, audio)];
    if (INPUT_SUBTITLES) files.push(path.join(dir, `${name}.${INPUT_SUBTITLES}`));
    return files.filter((file) => existsSync(file));
  });
}

/** Sets an output of the step. No value can contain the delimiter, which is random. */
function output(name, value) {
  const delimiter = randomUUID();
  appendFileSync(env.GITHUB_OUTPUT, `${name}<<${delimiter}\n${value}\n${delimiter}\n`);
}

function fail(message) {
  process.stdout.write(`::error::${message}\n`);
  process.exitCode = 2;
}
