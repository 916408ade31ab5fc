import { mkdir, readFile, rm, writeFile, readdir, stat, truncate } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeAudio } from '../../harness/decode-audio.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { parseJsonLines } from '../../harness/json-lines.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { drawn, underSeed } from '../../harness/seed.ts';
import { filesOf, snapshot } from '../../harness/snapshot.ts';
import type { ServingFoley } from '../../binary/support/serve.ts';
import { startServe } from '../../binary/support/serve.ts';
import { readBooks } from '../../binary/support/books.ts';
import type { MortalBatch } from './mortal-batch.ts';
import {
  ENDINGS,
  endBy,
  endService,
  expectPaidOnce,
  FAULTS,
  IS_FULL,
  liveFor,
  TIMEOUT_MS,
} from './mortal-batch.ts';
import { VOICE_ID } from '../../binary/support/orders.ts';
import { existsSync } from 'node:fs';

/** Sizes of the test with the most kills, and of the others. */
const MAIN = IS_FULL ? { items: 60, kills: 100 } : { items: 8, kills: 8 };
const OTHER = IS_FULL ? { items: 60, kills: 100 } : { items: 6, kills: 5 };
/** Where the service begins and ends with it, most of the moments are that, and a busy machine merges many of them. */
const EMBEDDED_ITEMS = IS_FULL ? 2 * OTHER.items : OTHER.items;
const embeddedLives = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 8, max: 45 }));

/** Each kill loses what is under way, so that there are fewer of them. */
const streamLives = fc.integer({ min: 5, max: 60 });
const STREAM_KILLS = IS_FULL ? 12 : 2;

/** Faults of a stream. */
const STREAM_FAULTS = [
  'POST /**/aligned; status=503; every=5',
  'POST /**/aligned; reset-after=9000; every=4',
  'POST /**/aligned; reset-after=0; every=7',
];

interface Fixture {
  readonly sandbox: Sandbox;
  readonly out: string;
  readonly dataDir: string;
  readonly batch: MortalBatch;
  readonly items: number;
}

async function newFixture(
  items: number,
  dataDir: string,
  env: MortalBatch['env'],
  sandbox: Sandbox,
) {
  const out = path.join(sandbox.out, 'spoken');
  // They must exist when the first run starts.
  for (const folder of [out, dataDir]) await mkdir(folder, { recursive: true, mode: 0o700 });
  const list = Array.from({ length: items }, (_, index) => JSON.stringify(itemOf(index + 1)));
  await writeFile(path.join(sandbox.out, 'items.jsonl'), `${list.join('\n')}\n`);
  const args = ['batch', '--jsonl', 'items.jsonl', '--output-dir', 'spoken', '--retry-failed'];
  const folders = ['', '.foley', '.foley/journal'].map((name) => path.join(out, name));
  const batch = { sandbox, env, args: [...args, '-v', VOICE_ID], folders: [...folders, dataDir] };
  return { sandbox, out, dataDir, batch, items };
}

/** Short texts in every format, and some of several segments. */
function itemOf(number: number) {
  const text = `Item ${number} is said once. `.repeat(number % 10 === 0 ? 50 : 1).trim();
  return { id: `item-${number}`, text, format: ['mp3', 'wav', 'ogg'][number % 3] };
}

/** Starts a service in its own process, which is not killed but returns faults. */
async function servedFixture(
  items: number,
  faults = FAULTS,
): Promise<Fixture & { readonly service: ServingFoley }> {
  const sandbox = await createSandbox();
  const dataDir = path.join(sandbox.root, 'service');
  const flags = ['--data-dir', dataDir, ...faults.flatMap((rule) => ['--fault', rule])];
  const service = await startServe(flags, { sandbox, timeoutMs: 3_600_000 });
  return { ...(await newFixture(items, dataDir, service.env, sandbox)), service };
}

/** Uses the embedded service, which dies with the command. */
async function embeddedFixture(items: number): Promise<Fixture> {
  const sandbox = await createSandbox();
  const dataDir = path.join(sandbox.state, 'foley', 'service');
  return newFixture(items, dataDir, { FOLEY_TARGET: 'local' }, sandbox);
}

interface Killing {
  readonly seed: number;
  readonly kills: number;
  readonly livesOf?: typeof lives;
  /** Called before each start. */
  readonly before?: (turn: number, isToBeKilled: boolean) => Promise<void>;
  /** Number of batches that are started at once; by default one. */
  readonly racers?: number;
}

/** Starts and kills the batch this number of times, and then lets it finish. */
async function liveAndDie(
  fixture: Fixture,
  { before, kills, livesOf = lives, racers = 1, seed }: Killing,
): Promise<void> {
  const moments = drawn(livesOf, MOST_RUNS * racers, seed);
  let killed = 0;
  for (let turn = 0; turn < MOST_RUNS; turn += 1) {
    await before?.(turn, killed < kills);
    const runs = Array.from({ length: racers }, (_, racer) =>
      liveFor(fixture.batch, killed < kills ? (moments[turn * racers + racer] ?? 1) : Infinity),
    );
    const results = await Promise.all(runs);
    killed += results.filter((result) => result === 'killed').length;
    const ended = results.filter((result) => result !== 'killed');
    for (const { code, stderr } of ended) expect(ENDINGS, stderr).toContain(code);
    if (ended.some(({ code }) => code === 0)) {
      // The last item may have been spoken before the last kill.
      expect(killed).toBeGreaterThanOrEqual(IS_FULL ? kills : kills / 2);
      return;
    }
  }
  throw new Error(`${MOST_RUNS} runs did not come to an end`);
}

/** Checks that every file is complete, no other file is left, and the next run does nothing. */
async function expectDone({ batch, sandbox, items, out }: Fixture): Promise<void> {
  const again = await liveFor(batch, Number.POSITIVE_INFINITY);
  expect(again).toMatchObject({ code: 0 });
  const names = filesOf(await snapshot(out));
  const spoken = names.filter((name) => !name.startsWith('.foley/'));
  expect(spoken).toHaveLength(items);
  for (const name of spoken) {
    expect(name).toMatch(/^[\w.-]+\.(?:mp3|wav|ogg)$/);
    expect((await decodeAudio(await readFile(path.join(out, name)))).durationMs).toBeGreaterThan(
      300,
    );
  }
  const kept = names.filter((name) => name.startsWith('.foley/'));
  expect(
    kept.filter(
      (name) => !/^\.foley\/(?:\.gitignore|secret|journal\/[^/]+\.jsonl(?:\.corrupt)?)$/.test(name),
    ),
  ).toEqual([]);
  expect(filesOf(await snapshot(sandbox.temporary))).toEqual([]);
}

/** A text with two parts of its own, and one that it shares with the items of its format. */
function pausedItem(number: number) {
  const { format, id } = itemOf(number);
  const parts = [`Item ${number} begins.`, 'It goes on.', `Item ${number} ends.`];
  return { id, format, text: parts.join(' [pause 200ms] ') };
}

async function pausedFixture(items: number, faults: string[]) {
  const fixture = await servedFixture(items, faults);
  const list = Array.from({ length: items }, (_, index) => JSON.stringify(pausedItem(index + 1)));
  await writeFile(path.join(fixture.sandbox.out, 'items.jsonl'), `${list.join('\n')}\n`);
  const { args, folders } = fixture.batch;
  const watched = [...folders, path.join(fixture.out, '.foley/parts')];
  return { ...fixture, batch: { ...fixture.batch, args: [...args, '--pauses'], folders: watched } };
}

/** Number of different parts of all items; the items have three formats. */
const partsOf = (items: number): number => 2 * items + Math.min(3, items);

describe('a batch of texts with pauses that is killed until it is done', () => {
  test(
    `${OTHER.items} items: each part is bought once, also with a journal that was cut`,
    async () => {
      await underSeed(async (seed) => {
        const fixture = await pausedFixture(OTHER.items, FAULTS);
        const cuts = drawn(fc.integer({ min: 1, max: 600 }), MOST_RUNS, seed);
        await liveAndDie(fixture, {
          seed,
          kills: OTHER.kills,
          before: async (turn) => {
            if (turn % 2 === 1) await chopJournal(fixture.out, cuts[turn] ?? 1);
          },
        });
        await expectDone(fixture);
        await endService(fixture.service);
        await expectPaidOnce({ ...fixture, items: partsOf(fixture.items) });
      });
    },
    TIMEOUT_MS,
  );

  test(
    `${OTHER.items} items with word times: each part is bought at most once`,
    async () => {
      await underSeed(async (seed) => {
        const fixture = await pausedFixture(OTHER.items, STREAM_FAULTS);
        const args = fixture.batch.args.filter((arg) => arg !== '--retry-failed');
        const batch = { ...fixture.batch, args: [...args, '--timings', '--json'] };
        for (const life of drawn(streamLives, STREAM_KILLS, seed)) await liveFor(batch, life);
        await liveFor(batch, Infinity);
        const last = await liveFor(batch, Infinity);
        if (last === 'killed') throw new Error('The last run was killed.');
        const results = parseJsonLines(last.stdout.toString())
          .map((event) => Object(event))
          .filter(({ event }) => event === 'item');
        expect(results).toHaveLength(OTHER.items);
        for (const { error, output, status } of results) {
          if (status !== 'failed') await expectTimed(path.join(fixture.sandbox.out, output));
          // Lost, or refunded.
          else expect([27, 20]).toContain(Object(error).exitCode);
        }
        await endService(fixture.service);
        const { faults, operations } = await readBooks(fixture.dataDir);
        expect(faults).toEqual([]);
        const charged = operations.filter(({ state }) => state === 'completed');
        expect(charged.length).toBeLessThanOrEqual(partsOf(OTHER.items));
      });
    },
    TIMEOUT_MS,
  );
});

describe('a batch that is killed until it is done', () => {
  test(
    `${MAIN.items} items and ${MAIN.kills} kills, at a service that fails as well`,
    async () => {
      await underSeed(async (seed) => {
        const fixture = await servedFixture(MAIN.items);
        await liveAndDie(fixture, { seed, kills: MAIN.kills });
        await expectDone(fixture);
        await endService(fixture.service);
        await expectPaidOnce(fixture);
      });
    },
    TIMEOUT_MS,
  );

  test(
    `${EMBEDDED_ITEMS} items with the service in its own process`,
    async () => {
      await underSeed(async (seed) => {
        const fixture = await embeddedFixture(EMBEDDED_ITEMS);
        await liveAndDie(fixture, { seed, kills: OTHER.kills, livesOf: embeddedLives });
        await expectDone(fixture);
        await expectPaidOnce(fixture);
      });
    },
    TIMEOUT_MS,
  );

  test(
    `${OTHER.items} items with the end of the journal cut off before every start`,
    async () => {
      await underSeed(async (seed) => {
        const fixture = await servedFixture(OTHER.items);
        const cuts = drawn(fc.integer({ min: 1, max: 600 }), MOST_RUNS, seed);
        await liveAndDie(fixture, {
          seed,
          kills: OTHER.kills,
          before: (turn) => chopJournal(fixture.out, cuts[turn] ?? 1),
        });
        await expectDone(fixture);
        await endService(fixture.service);
        await expectPaidOnce(fixture);
      });
    },
    TIMEOUT_MS,
  );

  test(
    `${OTHER.items} items with the journal removed before every run that is killed`,
    async () => {
      await underSeed(async (seed) => {
        const fixture = await servedFixture(OTHER.items);
        await liveAndDie(fixture, {
          seed,
          kills: OTHER.kills,
          // Only the journal knows of a failed job and lets it be bought again: the last run keeps it.
          before: async (_turn, isToBeKilled) => {
            if (isToBeKilled) await deleteJournal(fixture.out);
          },
        });
        await expectDone(fixture);
        await endService(fixture.service);
        await expectPaidOnce(fixture);
      });
    },
    TIMEOUT_MS,
  );

  test(
    `${OTHER.items} items that two batches in one folder race for`,
    async () => {
      await underSeed(async (seed) => {
        const fixture = await servedFixture(OTHER.items);
        await liveAndDie(fixture, { seed, kills: OTHER.kills, racers: 2 });
        await expectDone(fixture);
        await endService(fixture.service);
        await expectPaidOnce(fixture);
      });
    },
    TIMEOUT_MS,
  );
});

describe('a batch whose list is edited between the kills', () => {
  test(
    `${OTHER.items} lines, put in and taken out in any order: each is bought once and is where it belongs`,
    async () => {
      await underSeed(async (seed) => {
        const fixture = await servedFixture(OTHER.items);
        const texts = Array.from({ length: fixture.items }, (_, at) => `Line ${at + 1} is said.`);
        const list = path.join(fixture.sandbox.out, 'list.txt');
        const args = ['--lines', 'list.txt', '--output-dir', 'spoken', '--retry-failed'];
        const batch = { ...fixture.batch, args: ['batch', ...args, '-v', VOICE_ID] };
        const some = fc.shuffledSubarray(texts, { minLength: texts.length / 2 });
        const turns = drawn(fc.record({ life: lives, lines: some }), OTHER.kills * 2, seed);
        for (const { life, lines } of turns) {
          await writeFile(list, lines.join('\n'));
          const result = await liveFor(batch, life);
          if (result !== 'killed') expect(ENDINGS, result.stderr).toContain(result.code);
        }
        await writeFile(list, texts.join('\n'));
        await endBy(batch);
        await expectDone({ ...fixture, batch });
        const edited = await outputsOf(fixture);
        // The service has the audio of each text, so that all of it can be fetched again.
        for (const name of edited.keys()) await rm(path.join(fixture.out, name));
        await deleteJournal(fixture.out);
        await endBy(batch);
        expect(await outputsOf(fixture)).toEqual(edited);
        await endService(fixture.service);
        await expectPaidOnce(fixture);
      });
    },
    TIMEOUT_MS,
  );
});

async function outputsOf({ out }: Fixture): Promise<ReadonlyMap<string, Buffer>> {
  const names = filesOf(await snapshot(out)).filter((name) => !name.startsWith('.foley/'));
  const read = names.map(async (name) => [name, await readFile(path.join(out, name))] as const);
  return new Map(await Promise.all(read));
}

describe('a batch of streams, killed until every item is delivered or lost', () => {
  test(
    `${OTHER.items} items with word times are delivered or reported as lost, and none is billed twice`,
    async () => {
      await underSeed(async (seed) => {
        const fixture = await servedFixture(OTHER.items, STREAM_FAULTS);
        const args = fixture.batch.args.filter((arg) => arg !== '--retry-failed');
        const batch = { ...fixture.batch, args: [...args, '--timings', '--json'] };
        const moments = drawn(streamLives, STREAM_KILLS, seed);
        for (const life of moments) await liveFor(batch, life);
        await liveFor(batch, Infinity);
        const last = await liveFor(batch, Infinity);
        if (last === 'killed') throw new Error('The last run was killed.');
        const results = parseJsonLines(last.stdout.toString())
          .map((event) => Object(event))
          .filter(({ event }) => event === 'item');
        expect(results).toHaveLength(OTHER.items);
        const delivered = results.filter(({ status }) => status === 'skipped');
        const lost = results.filter(({ status }) => status === 'failed');
        expect(delivered.length + lost.length).toBe(OTHER.items);
        // Lost, or refunded: killed before its first audio, and reset before the answer to its new key.
        for (const { error } of lost) expect([27, 20]).toContain(Object(error).exitCode);
        for (const { output } of delivered)
          await expectTimed(path.join(fixture.sandbox.out, output));
        await endService(fixture.service);
        const { faults, operations } = await readBooks(fixture.dataDir);
        expect(faults).toEqual([]);
        const charged = operations.filter(({ state }) => state === 'completed');
        expect(charged.length).toBeGreaterThanOrEqual(delivered.length);
        expect(charged.length).toBeLessThanOrEqual(OTHER.items);
      });
    },
    TIMEOUT_MS,
  );
});

async function expectTimed(file: string): Promise<void> {
  expect((await decodeAudio(await readFile(file))).durationMs).toBeGreaterThan(300);
  const timings = await readFile(file.replace(/\.[^.]+$/, '.json'), 'utf8');
  expect(JSON.parse(timings)).toMatchObject({ version: 1, complete: true });
}

const MOST_RUNS = 2_000;

/** Number of changes after which a run is killed: some die before the first item, some after a few. */
const lives = fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 3, max: 16 }));

/** Returns the journal files of a batch, the newest last. */
async function journalFiles(folder: string): Promise<readonly string[]> {
  const journal = path.join(folder, '.foley', 'journal');
  const names = existsSync(journal) ? await readdir(journal) : [];
  return names.sort().map((name) => path.join(journal, name));
}

/** Cuts bytes off the end of the newest journal file, like a disk that lost them. */
async function chopJournal(folder: string, bytes: number): Promise<void> {
  const newest = (await journalFiles(folder)).at(-1);
  if (newest === undefined) return;
  const { size } = await stat(newest);
  await truncate(newest, Math.max(0, size - bytes));
}

/** Removes every journal file. */
async function deleteJournal(folder: string): Promise<void> {
  for (const file of await journalFiles(folder)) await rm(file);
}
