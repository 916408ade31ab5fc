import { readFileSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { decodeAudio, isSilent } from '../../harness/decode-audio.ts';
import { parseJsonDocument } from '../../harness/json-lines.ts';
import { findOnPath } from '../../harness/require-tool.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { createSandbox } from '../../harness/sandbox.ts';

const EXAMPLES = fileURLToPath(new URL('../../../examples/engine/', import.meta.url));
const PROGRAMS = {
  'espeak-ng': fileURLToPath(new URL('programs/espeak-ng.mjs', import.meta.url)),
  flite: fileURLToPath(new URL('programs/flite.mjs', import.meta.url)),
};

/** A folder for PATH with a program of Debian, which runs the build of the same program from npm. */
async function folderWith(sandbox: Sandbox, program: keyof typeof PROGRAMS): Promise<string> {
  const folder = path.join(sandbox.harness, 'programs');
  await mkdir(folder);
  const script = `#!/bin/sh\nexec '${process.execPath}' '${PROGRAMS[program]}' "$@"\n`;
  await writeFile(path.join(folder, program), script);
  await chmod(path.join(folder, program), 0o755);
  return folder;
}

test.each([
  ['espeak.py', 'espeak-ng', 'python3', 'de'],
  ['flite.sh', 'flite', 'sh', 'rms'],
] as const)(
  'the example %s, which runs %s, keeps every rule and speaks',
  async (file, program, interpreter, voice) => {
    expect(findOnPath(interpreter)).toBeDefined();
    const sandbox = await createSandbox();
    const env = { PATH: `${await folderWith(sandbox, program)}:${process.env['PATH']}` };
    const run = (args: readonly string[]) => runFoley(args, { sandbox, env, cwd: EXAMPLES });

    const added = await run(['engine', 'add', 'mine', '--', interpreter, file]);
    expect(added.code, added.stderr).toBe(0);
    const tested = await run(['engine', 'test', 'mine', '--json']);
    const { failed, rules, warnings } = Object(parseJsonDocument(tested.stdout));
    expect({ failed, warnings }, JSON.stringify(rules, undefined, 2)).toEqual({
      failed: 0,
      warnings: 0,
    });
    const output = path.join(sandbox.out, 'mine.wav');
    const text = 'It\'s "quoted" $(and) `more`.\n\nEnd.';
    const spoken = await run(['tts', text, '--voice-name', voice, '-o', output]);
    expect(spoken.code, spoken.stderr).toBe(0);
    expect(isSilent(await decodeAudio(await readFile(output)))).toBe(false);
  },
);

test.each(['espeak.py', 'flite.sh'])('the example %s has fewer than 50 lines', (file) => {
  expect(readFileSync(path.join(EXAMPLES, file), 'utf8').split('\n').length).toBeLessThan(51);
});
