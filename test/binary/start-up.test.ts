import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { runFoley } from '../harness/run-foley.ts';
import { sandbox } from '../harness/sandbox.ts';

/** Each takes as long to make as half of a start of Node. */
const REFUSE_SLOW_OBJECTS = `for (const name of ['Segmenter', 'DisplayNames']) {
  Intl[name] = function () { throw new Error('Intl.' + name + ' is made by a plain tts'); };
}`;

test('a plain tts makes no Intl object that takes 10 ms', async () => {
  const box = await sandbox();
  const hook = path.join(box.harness, 'refuse.cjs');
  await writeFile(hook, REFUSE_SLOW_OBJECTS);
  const env = { NODE_OPTIONS: `--require "${hook}"` };
  const speak = (args: readonly string[]) =>
    runFoley(['tts', 'Hello.', '-q', ...args], { box, env });
  expect(await speak(['-o', 'a.mp3'])).toMatchObject({ code: 0, stderr: '' });
  // The hook works: captions need a segmenter.
  const captions = await speak(['-o', 'b.mp3', '--subtitles', 'b.srt']);
  expect(captions.stderr).toContain('Intl.Segmenter is made');
});
