import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256 } from '../../../src/durable/checksum.ts';
import { VOICE_ID } from '../../binary/support/orders.ts';
import { startServe } from '../../binary/support/serve.ts';
import { decodeAudio } from '../../harness/decode-audio.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { drawn, underSeed } from '../../harness/seed.ts';
import { filesOf, snapshot } from '../../harness/snapshot.ts';
import {
  endBy,
  ENDINGS,
  endService,
  expectPaidOnce,
  FAULTS,
  IS_FULL,
  liveFor,
  TIMEOUT_MS,
} from './mortal-batch.ts';

const { kills, lines } = IS_FULL ? { kills: 100, lines: 40 } : { kills: 8, lines: 8 };

/** Number of changes after which a run is killed: some die before the first line, some while the recording is made. */
const lives = fc.integer({ min: 1, max: 24 });

const ARGS = ['script', 'talk.txt', '-o', 'talk.wav', '-v', VOICE_ID, '--retry-failed'];
const CAPTIONS = ['--subtitles', 'talk.vtt', '--timings', 'talk.json'];

test.each([
  ['recording', []],
  ['recording and captions', CAPTIONS],
])(
  `a script that is edited between ${kills} kills gives the same %s as without kills, and no line is bought twice`,
  async (_name, captions) => {
    await underSeed(async (seed) => {
      const sandbox = await createSandbox();
      const dataDir = path.join(sandbox.root, 'service');
      const faults = FAULTS.flatMap((rule) => ['--fault', rule]);
      const service = await startServe(['--data-dir', dataDir, ...faults], {
        sandbox,
        timeoutMs: TIMEOUT_MS,
      });
      const speeches = Array.from({ length: lines }, (_, at) => `ADA: Line ${at + 1} is said.`);
      const script = path.join(sandbox.out, 'talk.txt');
      const folder = path.join(sandbox.out, 'talk.wav.foley');
      for (const name of ['lines', '.foley/journal']) {
        await mkdir(path.join(folder, name), { recursive: true, mode: 0o700 });
      }
      const inside = ['', 'lines', '.foley', '.foley/journal'].map((name) =>
        path.join(folder, name),
      );
      const folders = [...inside, sandbox.out, dataDir];
      const turns = drawn(
        fc.record({
          life: lives,
          some: fc.shuffledSubarray(speeches, { minLength: 1 }),
          gap: fc.integer({ min: 0, max: 900 }),
          hasCaptions: fc.boolean(),
        }),
        kills * 3,
        seed,
      );
      let killed = 0;
      for (const { gap, hasCaptions, life, some } of turns) {
        await writeFile(script, some.join('\n'));
        const args = [...ARGS, '--gap', `${gap}ms`, ...(hasCaptions ? captions : [])];
        const result = await liveFor({ sandbox, env: service.env, args, folders }, life);
        if (result === 'killed') killed += 1;
        else expect(ENDINGS, result.stderr).toContain(result.code);
        await expectWhole(path.join(sandbox.out, 'talk.wav'));
        if (killed >= kills) break;
      }
      expect(killed).toBeGreaterThanOrEqual(IS_FULL ? kills : kills / 2);
      await writeFile(script, speeches.join('\n'));
      await endBy({ sandbox, env: service.env, args: [...ARGS, ...captions], folders });
      const made = await filesMade(sandbox, captions);
      await endService(service);
      await expectPaidOnce({ dataDir, items: lines });
      expect(made).toEqual(await madeWithoutKills(speeches, captions));
      expect(filesOf(await snapshot(sandbox.temporary))).toEqual([]);
      const debris = filesOf(await snapshot(sandbox.out)).filter(
        (name) =>
          !/^talk\.(?:txt|wav|vtt|json)$|^talk\.wav\.foley\/(?:recording\.json|lines\/\w+\.(?:wav|json)|\.foley\/(?:\.gitignore|secret|journal\/[^/]+))$/.test(
            name,
          ),
      );
      expect(debris).toEqual([]);
    });
  },
  TIMEOUT_MS,
);

/** Checks that a recording, if there is one, can be decoded to its end. */
async function expectWhole(file: string): Promise<void> {
  if (!existsSync(file)) return;
  expect((await decodeAudio(await readFile(file))).durationMs).toBeGreaterThan(300);
}

async function madeWithoutKills(
  speeches: readonly string[],
  captions: readonly string[],
): Promise<readonly string[]> {
  const sandbox = await createSandbox();
  await writeFile(path.join(sandbox.out, 'talk.txt'), speeches.join('\n'));
  const env = { FOLEY_TARGET: 'local' };
  const result = await runFoley([...ARGS, ...captions], { sandbox, env });
  expect(result.code, result.stderr).toBe(0);
  return filesMade(sandbox, captions);
}

/** Returns the digest of the recording, and the captions. */
async function filesMade(
  { out }: Sandbox,
  captions: readonly string[],
): Promise<readonly string[]> {
  const wav = await readFile(path.join(out, 'talk.wav'));
  const files = captions.filter((one) => !one.startsWith('--'));
  const texts = files.map(async (file) => (await readFile(path.join(out, file))).toString());
  return [sha256(wav), ...(await Promise.all(texts))];
}
