import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hostFolder, hostPids } from '../../harness/engine-hosts.ts';
import { runFoley, startFoley } from '../../harness/run-foley.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import {
  KEPT,
  ALONE,
  TEXT,
  speak,
  speech,
  untilHosted,
  sandboxWithHost,
  kill,
  watchThreads,
} from '../../binary/support/resident-host.ts';

describe.skipIf(process.platform === 'win32')('the built-in voice', () => {
  test.each(['mp3', 'ogg', 'wav'])('gives the same %s, short and long', async (format) => {
    const sandbox = await sandboxWithHost();
    const { env, started } = await watchThreads(sandbox);
    for (const text of ['Yes.', 'A sentence, and another one. '.repeat(4)]) {
      const args = [text, '--format', format, '--volume', '6', '-o', `out.${format}`];
      const run = async (own: Readonly<Record<string, string>>): Promise<Buffer> => {
        expect(await speak(sandbox, own, args)).toMatchObject({ code: 0, stderr: '' });
        return readFile(path.join(sandbox.out, `out.${format}`));
      };
      const shared = await run({ ...KEPT, ...env });
      expect(shared.equals(await run(ALONE))).toBe(true);
    }
    expect(await started()).not.toContain('hibari');
  });

  test('gives the same word times, phonemes and unspoken words', async () => {
    const sandbox = await sandboxWithHost();
    await writeFile(path.join(sandbox.out, 'words.txt'), 'tomato\t/təˈmɑːtoʊ/\n');
    const text = 'A tomato, Мир and 東京. Then a second sentence: 3 more words.';
    const run = async (env: Readonly<Record<string, string>>): Promise<readonly string[]> => {
      const args = [text, '--json', '--lexicon', 'words.txt', '--timings', 'times.json'];
      const { code, stderr } = await speak(sandbox, env, [
        ...args,
        '--format',
        'wav',
        '-o',
        'out.wav',
      ]);
      const times = await readFile(path.join(sandbox.out, 'times.json'), 'utf8');
      const audio = await readFile(path.join(sandbox.out, 'out.wav'), 'base64');
      return [String(code), stderr, times, audio];
    };
    const { env, started } = await watchThreads(sandbox);
    const shared = await run({ ...KEPT, ...env });
    expect(await started()).toBe('');
    expect(shared[0]).toBe('3');
    expect(shared).toEqual(await run(ALONE));
  });

  test('gives four commands at once the same bytes, with one host', async () => {
    const sandbox = await sandboxWithHost();
    const names = ['a.mp3', 'b.mp3', 'c.mp3', 'd.mp3'];
    const results = await Promise.all(
      names.map((name) => speak(sandbox, KEPT, [TEXT, '-o', name])),
    );
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    const files = await Promise.all(names.map((name) => readFile(path.join(sandbox.out, name))));
    const own = await speech(sandbox, ALONE);
    expect(files.map((file) => file.equals(own))).toEqual([true, true, true, true]);
    expect(await hostPids(sandbox)).toHaveLength(1);
  });

  test('goes on in the command when the host is killed while it speaks', async () => {
    const sandbox = await sandboxWithHost();
    const pid = await untilHosted(sandbox);
    const { env, started } = await watchThreads(sandbox);
    const args = [
      'tts',
      '--local',
      '--quiet',
      'One more sentence to speak. '.repeat(20),
      '-o',
      '-',
    ];
    const running = await startFoley(args, { sandbox, env: { ...KEPT, ...env } });
    await expect.poll(() => running.stdout.length).toBeGreaterThan(0);
    expect(await started()).toBe('');
    kill(pid);
    const { code, stderr, stdout } = await running.done;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(await started()).toContain('hibari\n');
    const own = await runFoley(args, { sandbox, env: ALONE });
    expect(stdout.equals(own.stdout)).toBe(true);
    // The command has started the next host.
    expect(await untilHosted(sandbox)).not.toBe(pid);
  });

  test('ends after the time of the setting', async () => {
    const sandbox = await createSandbox();
    onTestFinished(async () => (await hostPids(sandbox)).forEach(kill));
    await runFoley(['config', 'set', 'engine.keepAlive', '1500ms'], { sandbox });
    const env = { FOLEY_KEEP_ALIVE: '' };
    await speech(sandbox, env);
    await untilHosted(sandbox);
    await expect.poll(() => readdir(hostFolder(sandbox))).toEqual([]);
  });

  test('does not use a folder that other users can open', async () => {
    const sandbox = await createSandbox();
    await mkdir(hostFolder(sandbox), { recursive: true });
    await chmod(hostFolder(sandbox), 0o755);
    await speech(sandbox, KEPT);
    expect(await readdir(hostFolder(sandbox))).toEqual([]);
    const open = await sandboxWithHost();
    await chmod(hostFolder(open), 0o755);
    const { env, started } = await watchThreads(open);
    await speech(open, { ...KEPT, ...env });
    expect(await started()).toContain('hibari\n');
  });
});
