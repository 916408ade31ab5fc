import type { FileDeps } from '../../files/file-deps.ts';
import type { Output } from '../../files/output.ts';
import { openOutput } from '../../files/publish.ts';
import { toJson } from '../../text/display.ts';
import type { ItemResult } from '../run/run-batch.ts';
import type { Tally } from '../run/tally.ts';
import type { Report } from './report.ts';
import { recordOf } from './report.ts';

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
