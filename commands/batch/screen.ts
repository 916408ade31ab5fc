import path from 'node:path';
import { recordOf } from '../../src/batch/report/report.ts';
import type { Tally } from '../../src/batch/report/report.ts';
import type { ClassifiedItem } from '../../src/batch/run/classify.ts';
import type { ItemResult } from '../../src/batch/run/run-batch.ts';
import type { Context } from '../../src/cli/command.ts';
import { barStyle } from '../../src/cli/render/progress.ts';
import { toJson } from '../../src/text/display.ts';
import type { Estimator } from './estimate.ts';

/** The output of a running batch: JSON events, or failures as text, with a progress bar on a terminal. */
export interface Screen {
  show(result: ItemResult, tally: Tally): Promise<void>;
  /** Prints a line beside the bar. */
  notice(line: string): void;
  close(): void;
}

/** Opens the screen, and with `--json` prints the event `plan`. */
export async function openScreen(
  context: Context,
  outputDir: string,
  overview: Overview,
): Promise<Screen> {
  const { globals, io } = context;
  if (globals.json === true) {
    await io.writeOut(`${toJson({ event: 'plan', ...overview })}\n`);
    return {
      show(result) {
        const output = result.output === null ? null : path.join(outputDir, result.output);
        return io.writeOut(`${toJson({ event: 'item', ...recordOf({ ...result, output }) })}\n`);
      },
      notice: (line) => io.notice(line),
      close: () => {},
    };
  }
  const bar = io.showsProgress ? await openBar(context, overview.items) : undefined;
  return {
    async show({ error, item }, tally) {
      bar?.update(tally);
      if (error === undefined) return;
      const hint = error.hint === undefined ? '' : ` ${error.hint}`;
      const sentence = `foley: ${item.id}: ${error.message}.${hint}`;
      if (bar === undefined) io.warn(sentence);
      else bar.log(sentence);
    },
    notice: (line) => (bar === undefined ? io.notice(line) : bar.log(line)),
    close: () => bar?.close(),
  };
}

async function openBar({ clock, io }: Context, items: number) {
  const { default: progress } = await import('cli-progress');
  const bars = new progress.MultiBar({
    format: '{bar} {value}/{total}  {failed} failed  {credits} credits  {left}',
    ...barStyle(io.progressStream),
  });
  const close = (): void => bars.stop();
  io.cleanups.add(close);
  const start = clock.monotonic();
  const bar = bars.create(items, 0, { failed: 0, credits: 0, left: '' });
  return {
    update({ creditsUsed, done, failed, skipped }: Tally): void {
      const finished = done + failed + skipped;
      const left = timeLeft(clock.monotonic() - start, done + failed, items - finished);
      bar.update(finished, { failed, credits: creditsUsed, left });
    },
    log: (line: string): void => bars.log(`${io.shown(line)}\n`),
    close,
  };
}

/** @param worked number of items that took time */
function timeLeft(elapsedMs: number, worked: number, remaining: number): string {
  if (worked === 0 || remaining === 0) return '';
  const seconds = Math.ceil((elapsedMs / worked) * (remaining / 1_000));
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${seconds} s left` : `${minutes} min ${seconds % 60} s left`;
}

/** What a batch is going to do. */
interface Overview {
  readonly items: number;
  /** Items to request, perhaps under an earlier key. */
  readonly toSpeak: number;
  /** Billed items to download. */
  readonly toFetch: number;
  /** Items whose audio is in the folder under another name, or is that of an equal item. */
  readonly toReuse: number;
  readonly skipped: number;
  /** Items that only the user can continue, with a flag. */
  readonly failed: number;
  /** Characters of the items to request. */
  readonly characters: number;
  /** Null when the price of some item is unknown. */
  readonly estimatedCredits: number | null;
}

/** Counts the classified items. All are checked before the first request. */
export async function overviewOf(
  items: AsyncIterable<ClassifiedItem>,
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
