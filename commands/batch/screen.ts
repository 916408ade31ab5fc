import path from 'node:path';
import type { MultiBar, SingleBar } from 'cli-progress';
import { recordOf } from '../../src/batch/report/report.ts';
import type { ItemResult } from '../../src/batch/run/run-batch.ts';
import type { Tally } from '../../src/batch/run/tally.ts';
import type { Context } from '../../src/cli/context.ts';
import { toJson } from '../../src/text/display.ts';
import type { Overview } from './overview.ts';

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

/** The event of an item (contract, section 6); a path as the person would write it. */
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
    stream: io.progressStream,
    hideCursor: true,
    clearOnComplete: true,
    barsize: 24,
    linewrap: null,
    gracefulExit: false,
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
