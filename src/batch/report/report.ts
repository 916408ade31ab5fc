import type { FileDeps } from '../../durable/files.ts';
import type { Output } from '../../durable/output.ts';
import { openOutput } from '../../durable/publish.ts';
import { toJson } from '../../text/display.ts';
import type { ItemResult } from '../run/run-batch.ts';
import type { Tally } from '../run/tally.ts';

/** A file with a record of every item, written while they come. Everything throws exit 30. */
export interface Report {
  add(result: ItemResult): Promise<void>;
  /** Gives the file its name. @param isComplete whether all items of the plan are in it */
  publish(tally: Tally, isComplete: boolean): Promise<void>;
  abandon(): Promise<void>;
}

/** Whether a report of this name is a page for people, and not JSON. */
export function isPage(file: string): boolean {
  return /\.html?$/i.test(file);
}

/** What is told of an item, in a report and as an event. */
export function recordOf({ creditsUsed, error, item, output, status }: ItemResult) {
  return {
    id: item.id,
    status,
    output,
    creditsUsed,
    error: error === undefined ? null : errorOf(error),
    index: item.index,
    source: item.source,
    characters: item.characters,
    voiceId: item.order.voiceId,
    modelId: item.order.modelId ?? null,
    format: item.order.format,
  };
}

function errorOf({
  billed,
  code,
  exitCode,
  hint,
  message,
  requestId,
  status,
}: NonNullable<ItemResult['error']>) {
  return {
    code,
    message,
    exitCode,
    status: status ?? null,
    requestId: requestId ?? null,
    billed,
    hint: hint ?? null,
  };
}

/**
 * Opens a report for programs, before anything is sent.
 * @param outputDir where the outputs are, as the person wrote it
 */
export async function openJsonReport(
  file: string,
  outputDir: string,
  deps: FileDeps,
): Promise<Report> {
  const output = await openOutput({ ...deps, path: file });
  await output.write(Buffer.from(`{"version":1,"outputDir":${toJson(outputDir)},"items":[`));
  return new JsonReport(output);
}

class JsonReport implements Report {
  readonly #output: Output;
  #isFirst = true;

  constructor(output: Output) {
    this.#output = output;
  }

  async add(result: ItemResult): Promise<void> {
    const separator = this.#isFirst ? '\n' : ',\n';
    this.#isFirst = false;
    await this.#output.write(Buffer.from(separator + toJson(recordOf(result))));
  }

  async publish({ creditsUsed, done, failed, skipped }: Tally, isComplete: boolean): Promise<void> {
    const summary = { done, failed, skipped, creditsUsed, complete: isComplete };
    await this.#output.write(Buffer.from(`\n],"summary":${toJson(summary)}}\n`));
    await this.#output.publish();
  }

  abandon(): Promise<void> {
    return this.#output.abandon();
  }
}
