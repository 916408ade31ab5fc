import path from 'node:path';
import type { MultiBar, SingleBar } from 'cli-progress';
import { recordOf } from '../../src/batch/report/report.ts';
import type { Surveyed } from '../../src/batch/run/classify.ts';
import type { ItemResult } from '../../src/batch/run/run-batch.ts';
import type { Tally } from '../../src/batch/run/tally.ts';
import type { Context } from '../../src/cli/command.ts';
import { barStyle } from '../../src/cli/render/progress.ts';
import { toJson } from '../../src/text/display.ts';
import type { Estimator } from './estimate.ts';

/** What is seen of a batch while it runs: events, a bar where a person looks, a line for each failure. */
export interface Screen {
  show(result: ItemResult, tally: Tally): Promise<void>;
  /** A line beside the bar. */
  say(line: string): void;
  close(): void;
}

/** Opens it, and tells what is about to be done. */
export async function openScreen(
  context: Context,
  outputDir: string,
  overview: Overview,
): Promise<Screen> {
  const { globals, io } = context;
  if (globals.json === true) {
    await io.writeOut(`${toJson({ event: 'plan', ...overview })}\n`);
    return {
      show: (result) => io.writeOut(`${toJson(itemEvent(result, outputDir))}\n`),
      say: (line) => io.notice(line),
      close: () => {},
    };
  }
  const bar = io.showsProgress ? await openBar(context, overview) : undefined;
  return {
    async show({ error, item }, tally) {
      bar?.update(tally);
      if (error === undefined) return;
      const hint = error.hint === undefined ? '' : ` ${error.hint}`;
      const sentence = `foley: ${item.id}: ${error.message}.${hint}`;
      if (bar === undefined) io.warn(sentence);
      else bar.log(`${io.shown(sentence)}\n`);
    },
    say: (line) => (bar === undefined ? io.notice(line) : bar.log(`${io.shown(line)}\n`)),
    close: () => bar?.close(),
  };
}

/** The event of an item; a path as the person would write it. */
function itemEvent(result: ItemResult, outputDir: string) {
  const record = recordOf(result);
  const output = record.output === null ? null : path.join(outputDir, record.output);
  return { event: 'item', ...record, output };
}

interface Bar {
  update(tally: Tally): void;
  log(line: string): void;
  close(): void;
}

async function openBar({ clock, io }: Context, { items }: Overview): Promise<Bar> {
  const { default: progress } = await import('cli-progress');
  const bars: MultiBar = new progress.MultiBar({
    format: '{bar} {value}/{total}  {failed} failed  {credits} credits  {left}',
    ...barStyle(io.progressStream),
  });
  const close = (): void => bars.stop();
  io.cleanups.add(close);
  const start = clock.monotonic();
  const bar: SingleBar = bars.create(items, 0, { failed: 0, credits: 0, left: '' });
  return {
    update(tally) {
      const { creditsUsed, done, failed, skipped } = tally;
      const finished = done + failed + skipped;
      const left = timeLeft(clock.monotonic() - start, done + failed, items - finished);
      bar.update(finished, { failed, credits: creditsUsed, left });
    },
    log: (line) => bars.log(line),
    close,
  };
}

/** @param worked items that took time */
function timeLeft(elapsedMs: number, worked: number, remaining: number): string {
  if (worked === 0 || remaining === 0) return '';
  const seconds = Math.ceil((elapsedMs / worked) * (remaining / 1_000));
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${seconds} s left` : `${minutes} min ${seconds % 60} s left`;
}

/** What a batch is about to do. */
export interface Overview {
  readonly items: number;
  /** To be asked for, perhaps under a key that they were asked for under before. */
  readonly toSpeak: number;
  /** Paid for, and only to be fetched. */
  readonly toFetch: number;
  /** Their audio is in the folder under another name, or an equal item is spoken. */
  readonly toReuse: number;
  readonly skipped: number;
  /** Came to an end that only the person can change. */
  readonly failed: number;
  /** Of those that are to be asked for. */
  readonly characters: number;
  /** Null when the price of some item is not known. */
  readonly estimatedCredits: number | null;
}

/** Counts what is to be done, after every item was looked at; so nothing is sent when one is wrong. */
export async function overviewOf(
  items: AsyncIterable<Surveyed>,
  estimator: Estimator,
): Promise<Overview> {
  const counts = { speak: 0, fetch: 0, reuse: 0, share: 0, skip: 0, ended: 0 };
  let characters = 0;
  let estimate: number | null = 0;
  for await (const { decision, item } of items) {
    counts[decision.kind] += 1;
    if (decision.kind !== 'speak') continue;
    characters += item.characters;
    const credits: number | undefined = await estimator.creditsOf(item);
    estimate = estimate === null || credits === undefined ? null : estimate + credits;
  }
  return {
    items: Object.values(counts).reduce((sum, count) => sum + count, 0),
    toSpeak: counts.speak,
    toFetch: counts.fetch,
    toReuse: counts.reuse + counts.share,
    skipped: counts.skip,
    failed: counts.ended,
    characters,
    estimatedCredits: estimate,
  };
}
