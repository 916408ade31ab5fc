// One request over HTTP: a short answer against an empty Node and against a script with a
// vendor's client library; a long one against curl.
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { compare } from './measure.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const foley = path.join(here, '../bin/foley.cjs');
const SHORT_BYTES = 50_000;
const LONG_BYTES = 1_000_000_000;

export const title = 'one request';

export async function measure() {
  const scratch = mkdtempSync(path.join(tmpdir(), 'foley-bench-'));
  const server = fork(path.join(here, 'audio-server.mjs'));
  try {
    const { port } = await new Promise((resolve) => server.once('message', resolve));
    return [...short(port, scratch), ...long(port, scratch)];
  } finally {
    server.disconnect();
    rmSync(scratch, { recursive: true, force: true });
  }
}

function short(port, scratch) {
  const url = `http://127.0.0.1:${port}/${SHORT_BYTES}`;
  const script = path.join(scratch, 'client.mjs');
  const library = fileURLToPath(import.meta.resolve('openai'));
  writeFileSync(
    script,
    `import OpenAI from ${JSON.stringify(library)};
import { writeFileSync } from 'node:fs';
const client = new OpenAI({ baseURL: ${JSON.stringify(url)}, apiKey: 'bench' });
const answer = await client.audio.speech.create({ model: 'm', voice: 'v', input: 'hi' });
writeFileSync(${JSON.stringify(path.join(scratch, 'library.mp3'))}, Buffer.from(await answer.arrayBuffer()));
`,
  );
  const ours = { name: 'foley tts, 50 kB', command: () => speak(url, scratch, 'short.mp3') };
  const [floor, own] = compare([
    { name: 'node -e 0', command: () => ({ file: process.execPath, args: ['-e', '0'] }) },
    ours,
  ]);
  const [peer, beside] = compare(
    [
      {
        name: 'script with the openai client',
        command: () => ({ file: process.execPath, args: [script] }),
      },
      { ...ours, name: 'foley tts × that script' },
    ],
    { rounds: 40 },
  );
  // A third, the time of undici (docs/decisions/0008-undici.md), and the noise of a run.
  return [floor, { ...own, limit: 3.5 }, peer, { ...beside, limit: 0.4 }];
}

function long(port, scratch) {
  const url = `http://127.0.0.1:${port}/${LONG_BYTES}`;
  const output = path.join(scratch, 'long.mp3');
  const curl = `curl -s -X POST -d '{}' -o ${output} ${url}/speech && sync ${output}`;
  // curl would write over the old file, whose memory the system has already; foley writes a new file and replaces it.
  const afresh = (command) => {
    rmSync(output, { force: true });
    return command;
  };
  return compare(
    [
      {
        name: 'curl -o and sync, 1 GB',
        command: () => afresh({ file: 'sh', args: ['-c', curl] }),
      },
      { name: 'foley tts, 1 GB', command: () => afresh(speak(url, scratch, 'long.mp3')) },
    ],
    { rounds: 5 },
  ).map((row) => ({ ...row, limit: row.name.startsWith('foley') ? 1.8 : undefined }));
}

function speak(url, scratch, name) {
  const args = [foley, 'tts', 'hi', '-v', 'v', '-q', '--max-bytes', '2000000000'];
  args.push('-o', path.join(scratch, name));
  const env = {
    FOLEY_BASE_URL: url,
    FOLEY_API_KEY: 'bench',
    HOME: scratch,
    XDG_STATE_HOME: path.join(scratch, 'state'),
  };
  return { file: process.execPath, args, env };
}
