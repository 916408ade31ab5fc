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

/** Digest of all that decides the audio: the options, the settings of the project, and the names and contents of the texts. */
function digestOf(folder) {
  const hash = createHash('sha256');
  const variables = Object.keys(env).filter((name) => /^FOLEY_(?!API_KEY)/.test(name));
  const settings = variables.toSorted().map((name) => [name, env[name]]);
  hash.update(JSON.stringify([INPUT_VOICE, INPUT_FORMAT, INPUT_SUBTITLES, settings]));
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const texts = names.filter((name) => /\.(?:txt|md)$/i.test(name)).toSorted();
  for (const name of texts)
    hash.update(JSON.stringify([name, digestOfFile(path.join(folder, name))]));
  hash.update(JSON.stringify(settingsFiles().map((file) => digestOfFile(file))));
  return hash.digest('hex');
}

/** The settings file of the project and its lexicon. */
function settingsFiles() {
  const file = 'foley.config.json';
  try {
    const { lexicon = [] } = JSON.parse(readFileSync(file, 'utf8'));
    return [file, lexicon].flat().map(String);
  } catch {
    return [file];
  }
}

/** Digest of a file; null if it cannot be read, which the second step reports. */
function digestOfFile(file) {
  try {
    return createHash('sha256').update(readFileSync(file)).digest('hex');
  } catch {
    return null;
  }
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
