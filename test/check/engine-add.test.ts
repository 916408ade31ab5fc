import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { contentOf } from '../engines/model-files.ts';
import { startFaultServer } from '../fault-server/fault-server.ts';
import { answer, head } from '../fault-server/http-text.ts';
import { pause, write } from '../fault-server/steps.ts';
import { errorLine } from '../harness/error-line.ts';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { runFoley } from '../harness/run-foley.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { startInTerminal } from '../harness/terminal.ts';
import { MISBEHAVING } from '../service/engine/process/engine-under-test.ts';

const ONE_VOICE = ['engine', 'add', 'kokoro', '--voice', 'af_heart'];
const VOICE_BYTES = 522_240;

const modelsOf = (sandbox: Sandbox): string => path.join(sandbox.home, '.local/share/foley/models');
const filesIn = async (sandbox: Sandbox): Promise<string[]> =>
  (await readdir(modelsOf(sandbox), { recursive: true })).filter((name) => /\./.test(name));

test('foley engine --help names the engines that foley installs', async () => {
  const { stdout } = await runFoley(['engine', '--help']);
  for (const name of ['kokoro', 'piper', 'espeak-ng']) expect(stdout.toString()).toContain(name);
});

describe('the consent to an engine', () => {
  test('is required without a terminal: all parts are shown, and nothing is requested', async () => {
    const { origin } = await startFaultServer([]);
    const sandbox = await createSandbox();
    const result = await runFoley(['engine', 'add', 'kokoro', '--from', origin], { sandbox });
    expect(result.code).toBe(2);
    for (const part of [
      /41 voices \(21\.4 MB\): license Apache-2\.0; https:/,
      /model in 8 bits \(92\.4 MB\): license Apache-2\.0; https:/,
      /ONNX Runtime.*114\.0 MB.*MIT.*npm: onnxruntime-node/,
      /espeak-ng.*GPL-3\.0-or-later/,
      /--yes/,
    ]) {
      expect(result.stderr).toMatch(part);
    }
    expect(existsSync(modelsOf(sandbox))).toBe(false);
  });

  test.each([
    ['af_heart', false],
    ['am_puck', false],
    ['bf_emma', true],
    ['ff_siwis', true],
  ])('names espeak-ng and its license only for voices that need it: %s', async (voice, isNamed) => {
    const sandbox = await createSandbox();
    const add = async (name: string) =>
      (await runFoley(['engine', 'add', 'kokoro', '--voice', name], { sandbox })).stderr;
    expect(/espeak-ng.*GPL/.test(await add(voice))).toBe(isNamed);
    const voices = path.join(modelsOf(sandbox), 'kokoro/voices');
    await mkdir(voices, { recursive: true });
    await writeFile(path.join(voices, `${voice}.bin`), '');
    // A stored voice needs it too.
    expect(/espeak-ng.*GPL/.test(await add('af_sky'))).toBe(isNamed);
  });

  test('is part of the error with --json', async () => {
    const result = await runFoley(['engine', 'add', 'piper', '--json']);
    const { details, ...error } = errorLine(result);
    expect(error).toMatchObject({ exitCode: 2, code: 'usage' });
    expect(details).toMatchObject({
      parts: expect.arrayContaining([
        expect.objectContaining({
          what: 'voice en_US-joe-medium',
          bytes: 63_206_368,
          license: expect.stringContaining('CC0-1.0'),
          source: expect.stringContaining('rhasspy/piper-voices'),
        }),
      ]),
    });
  });

  test('shows the license of a Piper voice, for which only catalogue and model card are read', async () => {
    const folder = 'de/de_DE/thorsten/medium';
    const name = 'de_DE-thorsten-medium';
    const file = { size_bytes: 63_000_000, md5_digest: '0'.repeat(32) };
    const names = [`${name}.onnx`, `${name}.onnx.json`, 'MODEL_CARD'];
    const files = Object.fromEntries(names.map((one) => [`${folder}/${one}`, file]));
    const server = await startFaultServer([
      {
        path: '/piper/voices.json',
        answer: answer(200, {}, JSON.stringify({ [name]: { num_speakers: 1, files } })),
      },
      { path: `/piper/${name}.MODEL_CARD`, answer: answer(200, {}, '* License: CC0\n') },
    ]);
    const args = ['engine', 'add', 'piper', '--voice', name, '--from', server.origin];
    const result = await runFoley(args);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain(`voice ${name} (189.0 MB): license CC0; https://`);
    expect(server.requests).toHaveLength(2);
  });

  test('is asked for on a terminal, and "no" downloads nothing', async () => {
    const { origin } = await startFaultServer([]);
    const sandbox = await createSandbox();
    const args = [...ONE_VOICE, '--from', origin];
    const running = await startInTerminal(args, { sandbox, columns: 200 });
    await running.waitFor('stdout', /Download and install this\? \[y\/N\]/);
    running.write('n\r');
    const result = await running.done;
    expect(result.code).toBe(2);
    expect(result.stdout.toString()).toContain('cancelled: nothing was downloaded');
    expect(existsSync(modelsOf(sandbox))).toBe(false);
  });

  test('is not asked for with --no-input', async () => {
    const running = await startInTerminal([...ONE_VOICE, '--no-input'], { columns: 200 });
    const result = await running.done;
    expect(result.code).toBe(2);
    expect(result.stdout.toString()).toContain('--no-input forbids asking for consent');
  });
});

test('an engine that leaves a child with its stdout does not keep a command from exiting', async () => {
  const sandbox = await createSandbox();
  const file = path.join(sandbox.out, 'pid');
  const child = async (): Promise<number> => Number(await readFile(file, 'utf8'));
  const program = ['--', 'node', MISBEHAVING, 'leaves a child with its stdout', file];
  const added = await runFoley(['engine', 'add', 'leaves', ...program], { sandbox });
  expect(added.code, added.stderr).toBe(0);
  expect(existsSync(`${file}.ended`)).toBe(false);
  process.kill(await child(), 'SIGKILL');
  const spoken = await runFoley(['tts', 'Hello.', '-v', 'v', '-o', 'a.wav'], { sandbox });
  expect(spoken.code, spoken.stderr).toBe(0);
  expect(existsSync(`${file}.ended`)).toBe(false);
  process.kill(await child(), 'SIGKILL');
});

describe('an engine that cannot be downloaded', () => {
  test('wrong bytes end with exit 25, and are deleted', async () => {
    const { origin } = await startFaultServer([
      {
        path: '/m/kokoro/voices/af_heart.bin',
        answer: answer(200, {}, contentOf('x', VOICE_BYTES)),
      },
    ]);
    const sandbox = await createSandbox();
    const args = [...ONE_VOICE, '--yes', '--json', '--from', `${origin}/m/`];
    const error = errorLine(await runFoley(args, { sandbox }));
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'no' });
    expect(error.message).toMatch(
      /^af_heart\.bin from .* is not the expected file: its SHA-256 is/,
    );
    expect(await filesIn(sandbox)).toEqual([]);
    const listed = await runFoley(['engine', 'list', '--json'], { sandbox });
    expect(parseJsonDocument(listed.stdout)).toEqual({ total: 0, items: [] });
  });

  test('a stalled server ends with exit 25 after all retries, and the part is kept', async () => {
    const { origin } = await startFaultServer([
      {
        answer: [
          head(200, { 'Content-Length': String(VOICE_BYTES) }),
          write(contentOf('x', 1_000)),
          pause(),
        ],
      },
    ]);
    const sandbox = await createSandbox();
    const limits = ['--idle-timeout', '200ms', '--max-retries', '1'];
    const args = [...ONE_VOICE, '--yes', '--json', '--from', origin, ...limits];
    const error = errorLine(await runFoley(args, { sandbox }));
    expect(error).toMatchObject({ exitCode: 25 });
    expect(error.hint).toContain('It resumes the download.');
    expect(await filesIn(sandbox)).toEqual(['kokoro/voices/af_heart.bin.part']);
    const removed = await runFoley(['engine', 'remove', 'kokoro'], { sandbox });
    expect(removed.code, removed.stderr).toBe(0);
    expect(await filesIn(sandbox)).toEqual([]);
  });

  test.each(['pinyin', 'hebrew', 'japanese', 'thai'])(
    'a Piper voice with phonemes of the type %s is refused before its model is downloaded',
    async (type) => {
      const name = 'xx_XX-some-medium';
      const description = JSON.stringify({ phoneme_type: type });
      const md5 = createHash('md5').update(description).digest('hex');
      const files = {
        [`x/${name}.onnx`]: { size_bytes: 61_000_000, md5_digest: '0'.repeat(32) },
        [`x/${name}.onnx.json`]: { size_bytes: description.length, md5_digest: md5 },
        'x/MODEL_CARD': { size_bytes: 10, md5_digest: '0'.repeat(32) },
      };
      const server = await startFaultServer([
        {
          path: '/piper/voices.json',
          answer: answer(200, {}, JSON.stringify({ [name]: { num_speakers: 1, files } })),
        },
        { path: `/piper/${name}.MODEL_CARD`, answer: answer(200, {}, '* License: CC0\n') },
        { path: `/piper/${name}.onnx.json`, answer: answer(200, {}, description) },
      ]);
      const sandbox = await createSandbox();
      const args = ['engine', 'add', 'piper', '--voice', name, '--from', server.origin, '--yes'];
      const result = await runFoley(args, { sandbox });
      expect(result.code).toBe(2);
      expect(result.stderr).toMatch(`the voice ${name} reads phonemes of the type ${type}`);
      expect(result.stderr).toContain('foley engine add espeak-ng');
      expect(server.requests.map(({ path: wanted }) => wanted)).not.toContain(
        `/piper/${name}.onnx`,
      );
      expect(await filesIn(sandbox)).toEqual([]);
    },
  );

  test.each([5 * 2 ** 20, 3 * 2 ** 30])(
    'a catalogue of %d bytes in the folder of --from ends with exit 2, unread',
    async (bytes) => {
      const sandbox = await createSandbox();
      await mkdir(path.join(sandbox.out, 'piper'));
      await writeFile(path.join(sandbox.out, 'piper/voices.json'), '');
      await truncate(path.join(sandbox.out, 'piper/voices.json'), bytes);
      const args = ['engine', 'add', 'piper', '--voice', 'de_DE-x-low', '--yes', '--from', '.'];
      const result = await runFoley(args, { sandbox });
      expect(result.code).toBe(2);
      expect(result.stderr).toContain(
        `voices.json has ${bytes} bytes; at most 4194304 are allowed`,
      );
    },
  );

  test('no network ends with exit 24', async () => {
    const args = [...ONE_VOICE, '--yes', '--json', '--from', 'http://127.0.0.1:9'];
    const error = errorLine(await runFoley([...args, '--max-retries', '0']));
    expect(error).toMatchObject({ exitCode: 24, code: 'network' });
  });

  test('a folder without the files ends with exit 2, and names them', async () => {
    const sandbox = await createSandbox();
    await mkdir(path.join(sandbox.out, 'empty'));
    const result = await runFoley([...ONE_VOICE, '--yes', '--from', 'empty'], { sandbox });
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(/has no kokoro\/voices\/af_heart\.bin and 1 other file/);
  });

  test.each([
    [['kokoro', '--', 'node'], /the name kokoro is reserved for an engine that foley installs/],
    [['piper', '--', 'node'], /Choose another name, such as my-piper/],
    [['hibari', '--', 'node'], /the name hibari is reserved for an engine that foley installs/],
    [['hibari', '--voice', 'fenir'], /Did you mean fenrir\?/],
    [['hibari', '--voice', 'kore'], /voice kore \(7\.9 MB\): license Apache-2\.0; https:/],
    [['kokoro', '--voice', 'af_hart'], /Did you mean af_heart\?/],
    [['kokoro', '--from', 'http://models.example'], /http:\/\/models\.example is not encrypted/],
    [['kokoro', '--from', 'ftp://models.example'], /is not the URL of a mirror/],
    [['kokoro', '--from', 'nowhere'], /no such folder/],
    [['espeak-ng', '--from', '.'], /--from works with the engines hibari, kokoro and piper only/],
    [
      ['mine', '--voice', 'x', '--', 'node'],
      /--voice works with the engines hibari, kokoro and piper only/,
    ],
  ])('engine add %s ends with exit 2', async (args, reason) => {
    const result = await runFoley(['engine', 'add', ...args]);
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(reason);
  });

  test('a program of the user that has the name stays', async () => {
    const sandbox = await createSandbox();
    const morse = path.resolve('examples/engine/morse.mjs');
    await runFoley(['engine', 'add', 'morse', '--', 'node', morse], { sandbox });
    const file = path.join(sandbox.state, 'foley/engines/engines.json');
    const list = await runFoley(['engine', 'list', '--json'], { sandbox });
    const { items } = parseJsonDocument(list.stdout) as { items: object[] };
    const engines = items.map((item) => ({ ...item, name: 'kokoro' }));
    await writeFile(file, JSON.stringify({ version: 1, engines }));
    const spoken = await runFoley(['tts', 'sos', '-v', 'key', '-o', 'sos.wav'], { sandbox });
    expect(spoken.code, spoken.stderr).toBe(0);
    const refused = await runFoley([...ONE_VOICE, '--yes'], { sandbox });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(
      /an engine that you added: node[\s\S]*foley engine remove kokoro/,
    );
    const removed = await runFoley(['engine', 'remove', 'kokoro'], { sandbox });
    expect(removed.code, removed.stderr).toBe(0);
  });
});
