import { existsSync } from 'node:fs';
import { readFile, rm, symlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { documentationPages, foleyLines } from '../../binary/support/documentation.ts';
import { expectSoundIn } from '../../binary/support/sound.ts';
import { cutAfter, served } from '../../engines/model-files.ts';
import { startFaultServer } from '../../fault-server/fault-server.ts';
import type { Rule } from '../../fault-server/script.ts';
import { inShell } from '../../harness/in-shell.ts';
import { parseJsonDocument } from '../../harness/json-lines.ts';
import { naturalModels } from '../../harness/natural-models.ts';
import { runFoley, startFoley } from '../../harness/run-foley.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { drawn, underSeed } from '../../harness/seed.ts';

const MINUTES_MS = 60_000;

/** npm finds its registry, cache and proxy as it does for the person who runs the tests. */
const NPM = Object.fromEntries([
  ['npm_config_userconfig', path.join(homedir(), '.npmrc')],
  ['npm_config_cache', path.join(homedir(), '.npm')],
  ...Object.entries(process.env).flatMap(([name, value]) =>
    /^(?:npm_config_|https_proxy$|http_proxy$|no_proxy$|NODE_EXTRA_CA_CERTS$)/i.test(name)
      ? [[name, value ?? '']]
      : [],
  ),
]);

/** A sandbox with the models in the folder `models`. */
async function withModels(): Promise<Sandbox> {
  const sandbox = await createSandbox();
  await symlink(await naturalModels(), path.join(sandbox.out, 'models'));
  return sandbox;
}

const foley = (sandbox: Sandbox, line: string) => runFoley(line.split(' '), { sandbox, env: NPM });

test(
  'every command of the guide works, in its order',
  async () => {
    const guide = documentationPages().find(({ name }) => name === 'docs/guides/voices.md');
    const lines = guide === undefined ? [] : foleyLines(guide);
    expect(lines.length).toBeGreaterThan(5);
    const sandbox = await withModels();
    for (const line of lines) {
      const isAdd = line.includes('engine add') && !line.includes('--from');
      const script = isAdd ? `${line} --from models --yes` : line;
      const result = await inShell(script, { sandbox, env: NPM, timeoutMs: 5 * MINUTES_MS });
      expect(result.code, `${line}\n${result.stderr}`).toBe(0);
    }
    await expectSoundIn(sandbox, 'harbour.mp3');
    // The guide ends with the removal.
    expect(existsSync(path.join(sandbox.home, '.local/share/foley/models/kokoro'))).toBe(false);
  },
  15 * MINUTES_MS,
);

test(
  'npm installs espeak-ng with the first voice of Kokoro that needs it, and foley reads American English itself',
  async () => {
    const sandbox = await withModels();
    const ESPEAK = 'node_modules/@echogarden/espeak-ng-emscripten';
    const installation = async (): Promise<{ cwd: string; license: string }> => {
      const file = path.join(sandbox.state, 'foley/engines/engines.json');
      return JSON.parse(await readFile(file, 'utf8')).engines[0];
    };
    const american = await foley(sandbox, 'engine add kokoro --voice af_heart --from models --yes');
    expect(american.code, american.stderr).toBe(0);
    const { cwd, license } = await installation();
    expect(license).toBe('Apache-2.0');
    expect(existsSync(path.join(cwd, 'node_modules/onnxruntime-node'))).toBe(true);
    expect(existsSync(path.join(cwd, ESPEAK))).toBe(false);
    const spoken = await foley(sandbox, 'tts Hello -v af_heart -o heart.wav');
    expect(spoken.code, spoken.stderr).toBe(0);
    await expectSoundIn(sandbox, 'heart.wav');

    const french = await foley(sandbox, 'engine add kokoro --voice ff_siwis --from models --yes');
    expect(french.code, french.stderr).toBe(0);
    const both = await installation();
    expect(both.license).toBe('Apache-2.0 AND GPL-3.0-or-later');
    expect(existsSync(path.join(both.cwd, ESPEAK))).toBe(true);
    for (const voice of ['af_heart', 'ff_siwis']) {
      const { code, stderr } = await foley(sandbox, `tts Bonjour -v ${voice} -o ${voice}.wav`);
      expect(code, stderr).toBe(0);
    }
    const more = { sandbox, env: NPM, timeoutMs: 5 * MINUTES_MS };
    const tested = await runFoley(['engine', 'test', 'kokoro'], more);
    expect(tested.code, tested.stderr).toBe(0);
    expect((await foley(sandbox, 'engine remove kokoro')).code).toBe(0);
  },
  15 * MINUTES_MS,
);

test(
  'piper is added, speaks, adds nothing twice, and keeps its files when kokoro is removed',
  async () => {
    const sandbox = await withModels();
    const added = await foley(sandbox, 'engine add piper --from models --yes --json');
    expect(added.code, added.stderr).toBe(0);
    const listed = await foley(sandbox, 'engine list --json');
    expect(parseJsonDocument(listed.stdout)).toMatchObject({
      items: [
        {
          name: 'piper',
          license: 'GPL-3.0-or-later',
          bytes: expect.any(Number),
          voices: [{ id: 'en_US-joe-medium' }],
        },
      ],
    });
    const spoken = await foley(sandbox, 'tts Hello -v en_US-joe-medium -o joe.wav');
    expect(spoken.code, spoken.stderr).toBe(0);
    expect((await expectSoundIn(sandbox, 'joe.wav')).sampleRate).toBe(22_050);

    // Nothing is missing, so that there is nothing to accept and no source to read.
    await rm(path.join(sandbox.out, 'models'));
    const again = await foley(sandbox, 'engine add piper');
    expect(again.code, again.stderr).toBe(0);
    const removed = await foley(sandbox, 'engine remove kokoro');
    expect(removed.code).toBe(2);
    const card = path.join(
      sandbox.home,
      '.local/share/foley/models/piper/en_US-joe-medium.MODEL_CARD',
    );
    expect(await readFile(card, 'utf8')).toContain('CC0');
    expect((await foley(sandbox, 'engine remove piper')).code).toBe(0);
    expect(existsSync(card)).toBe(false);
  },
  15 * MINUTES_MS,
);

test(
  'a mirror that breaks off, and a command that is killed, only cost requests',
  () =>
    underSeed(async (seed) => {
      const sandbox = await createSandbox();
      const folder = await naturalModels();
      const files = ['kokoro/voices/af_heart.bin', 'kokoro/kokoro-v1.0.int8.onnx'];
      const rules: Rule[] = [];
      for (const file of files) {
        const content = await readFile(path.join(folder, file));
        const most = Math.floor(content.length / 4);
        for (const bytes of drawn(fc.integer({ min: 1, max: most }), 3, seed)) {
          const answer: Rule['answer'] = (request) => cutAfter(content, request, bytes);
          rules.push({ path: `/${file}`, times: 1, answer });
        }
        rules.push({ path: `/${file}`, answer: (request) => served(content, request) });
      }
      const server = await startFaultServer(rules);
      const line = `engine add kokoro --voice af_heart --yes --from ${server.origin}`;
      const killed = await startFoley(line.split(' '), { sandbox, env: NPM });
      await server.received({ path: `/${files[1]}` }, 2);
      killed.signal('SIGKILL');
      await killed.done;

      const added = await foley(sandbox, line);

      expect(added.code, added.stderr).toBe(0);
      const spoken = await foley(sandbox, 'tts Hello -v af_heart -o heart.wav');
      expect(spoken.code, spoken.stderr).toBe(0);
      expect((await expectSoundIn(sandbox, 'heart.wav')).sampleRate).toBe(24_000);
      // Each file is requested from its beginning once.
      const whole = server.requests.filter((one) => one.header('range') === undefined);
      expect(whole.map((one) => one.path)).toEqual(files.map((file) => `/${file}`));
    }),
  15 * MINUTES_MS,
);
