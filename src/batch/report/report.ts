import type { ExitCode, ExitName } from '../../contract/exit-codes.ts';
import type { System } from '../../system/system.ts';
import { openOutput } from '../../durable/publish.ts';
import type { Billed, Failure } from '../../errors/failure.ts';
import { toJson } from '../../text/display.ts';
import type { ReuseFields } from '../../paid/reuse/reused.ts';
import { sumOfReuse } from '../../paid/reuse/reused.ts';
import type { LeftOutWord } from '../../paid/unspoken.ts';
import type { ItemResult } from '../run/run-batch.ts';

export class Tally {
  done = 0;
  failed = 0;
  skipped = 0;
  creditsUsed = 0;
  /** The fields about reuse of all items; undefined without `--reuse`. */
  reuse: ReuseFields | undefined;
  gravest: Failure | undefined;
  /** Number of items whose audio leaves out some words, counted separately for each item status. */
  readonly unspoken = { done: 0, failed: 0, skipped: 0 };

  add({ creditsUsed, error, reuse, status, unspoken }: ItemResult): void {
    this[status] += 1;
    if (unspoken.length > 0) this.unspoken[status] += 1;
    this.creditsUsed += creditsUsed ?? 0;
    this.reuse = sumOfReuse(this.reuse, reuse);
    if (error === undefined) return;
    const isGraver =
      this.gravest === undefined || graveness(error.exit) < graveness(this.gravest.exit);
    if (isGraver) this.gravest = error;
  }

  /**
   * The exit name of a batch that tried all items. It is `ok` if all succeeded, the exit name of the gravest failure if
   * all failed, and otherwise `partial`. Missing words in newly delivered audio also give `partial`.
   */
  get exit(): ExitName {
    if (this.failed === 0) return this.unspoken.done > 0 ? 'partial' : 'ok';
    return this.done + this.skipped > 0 ? 'partial' : (this.gravest?.exit ?? 'partial');
  }
}

const GRAVEST_FIRST: readonly ExitName[] = [
  'lost',
  'unknownOutcome',
  'credits',
  'auth',
  'state',
  'output',
  'exists',
  'badAnswer',
  'service',
  'rateLimited',
  'network',
  'rejected',
];

function graveness(exit: ExitName): number {
  const place = GRAVEST_FIRST.indexOf(exit);
  return place === -1 ? GRAVEST_FIRST.length : place;
}

/**
 * A report file to which the result of each item is added as it arrives. The methods throw Failure of kind `output`.
 */
export interface Report {
  add(result: ItemResult): Promise<void>;
  /**
   * Writes the end of the report and renames the file to its final name.
   * @param isComplete whether all items were tried
   */
  publish(tally: Tally, isComplete: boolean): Promise<void>;
  abandon(): Promise<void>;
}

/** An item, as reports and events describe it. */
export interface ItemRecord extends Partial<ReuseFields> {
  readonly id: string;
  readonly status: 'done' | 'failed' | 'skipped';
  /** Path of the audio; null if there is none. */
  readonly output: string | null;
  /** Null if this run cost nothing, or the price is unknown. */
  readonly creditsUsed: number | null;
  readonly error: ItemError | null;
  /** The words that the voice left out. */
  readonly unspoken: readonly LeftOutWord[];
  /** Number of the item in the input, from 0. */
  readonly index: number;
  /** File and line of the item. */
  readonly source: string;
  readonly characters: number;
  readonly voiceId: string;
  /** Null if the service chose the model. */
  readonly modelId: string | null;
  readonly format: string;
}

interface ItemError {
  readonly code: string;
  readonly message: string;
  readonly exitCode: ExitCode;
  /** HTTP status of the response; null without a response. */
  readonly status: number | null;
  readonly requestId: string | null;
  readonly billed: Billed;
  readonly hint: string | null;
}

/** Converts the result of an item to the JSON object that reports and events contain. */
export function recordOf({
  creditsUsed,
  error,
  item,
  output,
  reuse,
  status,
  unspoken,
}: ItemResult): ItemRecord {
  return {
    id: item.id,
    status,
    output,
    creditsUsed,
    ...reuse,
    error:
      error === undefined
        ? null
        : {
            code: error.code,
            message: error.message,
            exitCode: error.exitCode,
            status: error.status ?? null,
            requestId: error.requestId ?? null,
            billed: error.billed,
            hint: error.hint ?? null,
          },
    unspoken,
    index: item.index,
    source: item.source,
    characters: item.characters,
    voiceId: item.order.voiceId,
    modelId: item.order.modelId ?? null,
    format: item.encoding ?? item.order.format,
  };
}

/**
 * Opens a JSON report and writes its beginning.
 * @param outputDir output folder as the user typed it
 * @throws Failure of kind `output`
 */
export async function openJsonReport(
  file: string,
  outputDir: string,
  deps: System,
): Promise<Report> {
  const output = await openOutput(deps, { path: file });
  const write = (text: string): Promise<void> => output.write(Buffer.from(text));
  let separator = '\n';
  await write(`{"version":1,"outputDir":${toJson(outputDir)},"items":[`);
  return {
    async add(result) {
      const start = separator;
      separator = ',\n';
      await write(start + toJson(recordOf(result)));
    },
    async publish({ creditsUsed, done, failed, reuse, skipped }, isComplete) {
      const summary = { done, failed, skipped, creditsUsed, ...reuse, complete: isComplete };
      await write(`\n],"summary":${toJson(summary)}}\n`);
      await output.publish();
    },
    abandon: () => output.abandon(),
  };
}
