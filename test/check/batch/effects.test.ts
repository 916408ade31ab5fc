import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Fault } from '../../harness/failing-files.ts';
import { failingFiles } from '../../harness/failing-files.ts';
import type { BatchSimulation, Place, RunOutcome } from '../../batch/batch-simulation.ts';
import {
  chargesAt,
  createBatchSimulation,
  filesAt,
  runOnce,
  writeLines,
} from '../../batch/batch-simulation.ts';
import { verifyBytes } from '../../audio/verify-bytes.ts';

const FAULTS: readonly (readonly [string, Fault])[] = [
  ['kills it', { kind: 'kill' }],
  ['fails with ENOSPC', { kind: 'error', code: 'ENOSPC' }],
  ['fails with EIO', { kind: 'error', code: 'EIO' }],
  ['fails with ECONNRESET', { kind: 'error', code: 'ECONNRESET' }],
  ['finds the disk full from then on', { kind: 'full' }],
];
const IS_FULL_SIZE = process.env['FOLEY_TEST_SIZE'] === 'full';
/** In the small size each kind of fault strikes only some effects, different ones for each kind. */
const STRIDE = IS_FULL_SIZE ? 1 : 20;

let simulation: BatchSimulation;
let places = 0;

beforeAll(async () => {
  simulation = await createBatchSimulation();
});
afterAll(async () => {
  await simulation.end();
});

describe('a batch whose k-th effect fails', () => {
  it.each(FAULTS.map(([name, fault], turn) => [name, fault, turn] as const))(
    'and %s: the next run delivers all items, each charged once',
    { timeout: 300_000 },
    async (_name, fault, turn) => {
      for (let at = 1 + ((turn * 4) % STRIDE); ; at += STRIDE) {
        const { place, texts } = await newFixture();
        const broken = await runOnce(simulation, place, { failing: failingFiles(at, fault) });
        const what = `effect ${at} (${broken.struck ?? 'none'})`;
        await expectSafe(place, broken, texts, what);
        await expectWhole(place, texts, what);
        if (broken.struck === undefined) {
          expect(at).toBeGreaterThan(100);
          return;
        }
      }
    },
  );

  it('twice in a row, at every effect', { timeout: 300_000 }, async () => {
    for (let at = 2; ; at += IS_FULL_SIZE ? 3 : 40) {
      const { place, texts } = await newFixture();
      const first = await runOnce(simulation, place, {
        failing: failingFiles(at, { kind: 'kill' }),
      });
      const second = failingFiles(at + 7, { kind: 'kill' });
      await expectSafe(
        place,
        await runOnce(simulation, place, { failing: second }),
        texts,
        `${at}`,
      );
      await expectWhole(place, texts, `effect ${at} twice`);
      if (first.struck === undefined) return;
    }
  });
});

describe('a batch of an edited list whose k-th effect fails', () => {
  it.each(FAULTS.map(([name, fault], turn) => [name, fault, turn] as const))(
    'and %s: nothing is bought again, and no audio is lost at any moment',
    { timeout: 300_000 },
    async (_name, fault, turn) => {
      for (let at = 1 + ((turn * 4) % STRIDE); ; at += STRIDE) {
        const { audio, place, texts } = await newEdit();
        const broken = await runOnce(simulation, place, { failing: failingFiles(at, fault) });
        const what = `effect ${at} (${broken.struck ?? 'none'})`;
        await expectSafe(place, broken, texts, what);
        await expectKept(place, audio, what);
        await expectWhole(place, texts, what);
        await expectPlaced(place, audio, texts, what);
        if (broken.struck === undefined) {
          expect(at).toBeGreaterThan(100);
          return;
        }
      }
    },
  );

  it(
    'and kills it: after another edit nothing is bought again, and no file counts as foreign',
    {
      timeout: 300_000,
    },
    async () => {
      for (let at = 1; ; at += IS_FULL_SIZE ? 1 : 5) {
        const { audio, place, texts } = await newEdit();
        const failing = failingFiles(at, { kind: 'kill' });
        const { struck } = await runOnce(simulation, place, { failing });
        const edited = [...texts.slice(1), ...texts.slice(0, 1)];
        await writeLines(place, edited);
        const what = `effect ${at} (${struck ?? 'none'})`;
        await expectWhole(place, edited, what);
        await expectPlaced(place, audio, edited, what);
        if (struck === undefined) return;
      }
    },
  );
});

describe('a batch of texts with pauses whose k-th effect fails', () => {
  it.each(FAULTS.map(([name, fault], turn) => [name, fault, turn] as const))(
    'and %s: the next run delivers all items, each part charged once',
    { timeout: 300_000 },
    async (_name, fault, turn) => {
      for (let at = 1 + ((turn * 4) % STRIDE); ; at += STRIDE) {
        const { parts, place, texts } = await newPausedFixture();
        const failing = failingFiles(at, fault);
        const broken = await runOnce(simulation, place, { failing, isPaused: true });
        const what = `effect ${at} (${broken.struck ?? 'none'})`;
        await expectSafe(place, broken, texts, what);
        await expectWhole(place, texts, what, parts);
        expect(await readdir(path.join(place.outputDir, '.foley')), what).not.toContain('parts');
        if (broken.struck === undefined) {
          expect(at).toBeGreaterThan(100);
          return;
        }
      }
    },
  );
});

/** Creates a folder with two items that share a part; one is done, and has changed since. */
async function newPausedFixture() {
  const place = await simulation.newPlace();
  places += 1;
  const [done, old, shared, fresh] = ['Done', 'Old', 'Shared', 'New'].map(
    (name) => `${name} ${places}.`,
  );
  const mark = ' [pause 100ms] ';
  await writeLines(place, [[done, old].join(mark)]);
  expect((await runOnce(simulation, place, { isPaused: true })).failure).toBeUndefined();
  const texts = [[done, shared].join(mark), [shared, fresh, fresh].join(mark)];
  await writeLines(place, texts);
  return { place, texts, parts: [done, shared, fresh].map(String) };
}

/** A folder of lines of which some changed places, one is new, one was removed, and one occurs twice. */
async function newEdit() {
  const place = await simulation.newPlace();
  places += 1;
  // Different lengths make different audio.
  const names = ['A', 'Bravo', 'Charlie once', 'Delta once and twice'];
  const [a, b, c, d] = names.map((name) => `${name} ${places}.`);
  const before = [a, b, c, d].map(String);
  await writeLines(place, before);
  expect((await runOnce(simulation, place)).failure).toBeUndefined();
  const files = await filesAt(place);
  const audio = new Map(
    before.map((text, at) => [text, files.get(`line-${at + 1}.wav`) ?? Buffer.alloc(0)]),
  );
  const texts = [b, a, `New ${places}.`, c, c].map(String);
  await writeLines(place, texts);
  return { place, texts, audio };
}

/** Checks that billed audio is under some name, also when its line was removed. */
async function expectKept(
  place: Place,
  audio: ReadonlyMap<string, Buffer>,
  what: string,
): Promise<void> {
  const kept = path.join(place.outputDir, '.foley', 'kept');
  const names = await readdir(kept).catch((): string[] => []);
  const contents = [
    ...(await filesAt(place)).values(),
    ...(await Promise.all(names.map((name) => readFile(path.join(kept, name))))),
  ];
  for (const [text, bytes] of audio) {
    expect(
      contents.some((content) => content.equals(bytes)),
      `${what}: ${text}`,
    ).toBe(true);
  }
}

async function expectPlaced(
  place: Place,
  audio: ReadonlyMap<string, Buffer>,
  texts: readonly string[],
  what: string,
): Promise<void> {
  const files = await filesAt(place);
  for (const [at, text] of texts.entries()) {
    const before = audio.get(text);
    if (before === undefined) continue;
    const isIts = files.get(`line-${at + 1}.wav`)?.equals(before);
    expect(isIts, `${what}: ${text} at ${at + 1}`).toBe(true);
  }
  await expectKept(place, audio, what);
}

/** Creates a folder in which one item is done, one has changed since, and one is new. */
async function newFixture(): Promise<{ place: Place; texts: readonly string[] }> {
  const place = await simulation.newPlace();
  places += 1;
  await writeLines(place, [`Done ${places}.`, `Old ${places}.`]);
  const before = await runOnce(simulation, place);
  expect(before.failure).toBeUndefined();
  const texts = [`Done ${places}.`, `Changed ${places}.`, `New ${places}.`];
  await writeLines(place, texts);
  return { place, texts };
}

/** Checks what holds after any fault: files are complete, nothing is charged twice, and no loss counts as success. */
async function expectSafe(
  place: Place,
  outcome: RunOutcome,
  texts: readonly string[],
  what: string,
): Promise<void> {
  for (const [name, content] of await filesAt(place)) {
    expect(verifyBytes('wav', content).problem, `${what}: ${name}`).toBeUndefined();
  }
  for (const [text, charges] of chargesAt(simulation, place)) {
    expect(charges, `${what}: ${text}`).toBe(1);
  }
  const { died, failure, results } = outcome;
  const isDelivered =
    results.length === texts.length && results.every(({ status }) => status !== 'failed');
  const isTold = died || failure !== undefined || results.some(({ status }) => status === 'failed');
  expect(isDelivered || isTold, what).toBe(true);
}

/** Checks what holds after a run without faults. */
async function expectWhole(
  place: Place,
  texts: readonly string[],
  what: string,
  sent?: readonly string[],
): Promise<void> {
  const isPaused = sent !== undefined;
  const again = await runOnce(simulation, place, { isPaused });
  expect(again.failure, what).toBeUndefined();
  expect(
    again.results.map(({ status }) => status === 'failed'),
    what,
  ).toEqual(texts.map(() => false));
  const files = await filesAt(place);
  expect([...files.keys()].toSorted(), what).toEqual(
    texts.map((_, index) => `line-${index + 1}.wav`),
  );
  const charges = chargesAt(simulation, place);
  for (const text of sent ?? texts) expect(charges.get(text), `${what}: ${text}`).toBe(1);
  expect(await readdir(path.join(place.outputDir, '.foley', 'tmp')), what).toEqual([]);
  const left = (await readdir(path.join(place.outputDir, '.foley', 'locks'))).concat(
    (await readdir(path.join(place.outputDir, '.foley'))).filter((name) => name.endsWith('.part')),
  );
  expect(left, what).toEqual([]);
  const last = await runOnce(simulation, place, { isPaused });
  expect(
    last.results.map(({ status }) => status),
    what,
  ).toEqual(texts.map(() => 'skipped'));
}
