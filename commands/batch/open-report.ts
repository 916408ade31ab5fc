import path from 'node:path';
import type { Report } from '../../src/batch/report/report.ts';
import { isPage } from '../../src/batch/report/report.ts';
import type { Context } from '../../src/cli/context.ts';
import type { PreparedBatch } from './prepare.ts';

/** Opens what `--report` asks for, before anything is sent; undefined where nothing does. */
export async function openReport(
  context: Context,
  { captions, flags }: PreparedBatch,
): Promise<Report | undefined> {
  const { outputDir, report: file } = flags;
  if (file === undefined) return undefined;
  if (!isPage(file)) {
    const { openJsonReport } = await import('../../src/batch/report/json-report.ts');
    return openJsonReport(file, outputDir, context);
  }
  const { openPageReport } = await import('../../src/batch/report/page-report.ts');
  return openPageReport({
    ...context,
    file,
    outputDir: path.resolve(context.cwd(), outputDir),
    title: `foley batch: ${outputDir}`,
    captions: captions?.formats ?? [],
    onTooLarge: () =>
      context.io.notice(
        `foley: ${file} would be too large for a browser; the sound of later items is left out of it`,
      ),
  });
}
