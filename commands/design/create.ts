import { Option } from 'commander';
import type { BilledOptions } from '../../src/api/request.ts';
import type { DesignOrder, VoiceDesign } from '../../src/api/resources/designs.ts';
import type { CommandDefinition, Context, Connection } from '../../src/cli/command.ts';
import { dryRunOption, idOptions, filled } from '../../src/cli/flags/speech.ts';
import { each } from '../../src/cli/flags/voices.ts';
import { designRequest } from '../../src/api/resources/designs.ts';
import type { IdFlags } from '../../src/cli/flags/speech.ts';
import { folderPlace } from '../../src/cli/jobs/places.ts';
import { openJournal } from '../../src/cli/journal.ts';
import { startProgress } from '../../src/cli/render/progress.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import type { Column } from '../../src/cli/render/table.ts';
import { dryRunResult, describeCost } from '../../src/cli/render/result.ts';
import type { PlaceFor } from '../../src/speech/jobs/job-source.ts';
import { counted } from '../../src/text/display.ts';
import type { CandidatePreview } from '../../src/voices/candidate-previews.ts';
import { savePreviews } from '../../src/voices/candidate-previews.ts';
import { designVoice } from '../../src/voices/create.ts';

/** `foley design create PROMPT` (docs/api/voice-design.md). */
export const designCreate: CommandDefinition<DesignCreateFlags> = {
  freeText: true,
  configure(command) {
    command
      .description(
        'Creates candidate voices from a description, and lists them. Candidates are temporary: ' +
          'listen to them, and keep one with `foley design save`.',
      )
      .argument('<prompt>', 'description of the voice')
      .addOption(
        new Option('--preview-text <text>', 'what the candidates say')
          .argParser(filled('--preview-text'))
          .makeOptionMandatory(),
      )
      .addOption(
        new Option('--provider <name>', 'engine family to use (may be repeated)').argParser(
          each(filled('--provider')),
        ),
      )
      .addOption(
        new Option(
          '--output-dir <folder>',
          'save every preview in this folder, as <candidate>.<ext>',
        ).argParser(filled('--output-dir')),
      );
    const ids = idOptions('key that makes a repeated request free');
    for (const option of [...ids, dryRunOption()]) command.addOption(option);
    command.addHelpText('after', EXAMPLES);
  },
  async run(context, { args: [given = ''], options }) {
    const { previewText, provider: providers } = options;
    const order: DesignOrder = {
      prompt: filled('PROMPT')(given),
      previewText,
      ...(providers === undefined ? {} : { providers }),
    };
    if (options.dryRun === true) return describeDesign(context, order, options);
    return makeDesign(context, order, options);
  },
};

const EXAMPLES = `
Examples:
  $ foley design create "An old man, deep and slow" \\
      --preview-text "Good evening." --output-dir candidates`;

/** Returns the request as `--dry-run` prints it. */
export async function describeDesign(
  context: Context,
  order: DesignOrder,
  flags: IdFlags,
): Promise<CommandResult> {
  const { client } = await context.connect();
  return dryRunResult(client.describe(designRequest(order, designOptions(context, flags))));
}

/** Has the candidates made, and fetches their previews where a folder is named for them. */
export async function makeDesign(
  context: Context,
  order: DesignOrder,
  { outputDir, ...flags }: DesignCreateFlags,
): Promise<CommandResult> {
  const { io } = context;
  const placeFor =
    outputDir === undefined ? undefined : await folderPlace(context, outputDir, FOLDER);
  const connection = await context.connect();
  const design = await make(context, order, { connection, options: designOptions(context, flags) });
  for (const line of designNotices(design)) io.notice(line);
  const previews =
    placeFor === undefined
      ? undefined
      : await fetchPreviews(context, design, { connection, placeFor });
  const told = { design, previews };
  const rows = candidateRows(told);
  const { table } = await import('../../src/cli/render/table.ts');
  return {
    data: designDocument(told, connection.target),
    human: (style) => table(rows, candidateColumns(rows), style),
    exit: previews?.some(({ failure }) => failure !== undefined) === true ? 'partial' : 'ok',
  };
}

/** Both requests of a design need a key (docs/api/voice-design.md). */
export function designOptions(
  { random, signal }: Context,
  { idempotencyKey, requestId }: IdFlags,
): BilledOptions {
  const value = idempotencyKey ?? random.uuid();
  const madeByTool = idempotencyKey === undefined;
  return { idempotencyKey: { value, madeByTool }, requestId, signal };
}

const FOLDER = {
  flag: '--output-dir',
  why: 'previews require a folder',
  hint: 'Name a folder, or leave the flag out.',
};

async function make(
  context: Context,
  order: DesignOrder,
  { connection: { client }, options }: { connection: Connection; options: BilledOptions },
): Promise<VoiceDesign> {
  const { clock, io } = context;
  const { journal } = await openJournal(context);
  const progress = startProgress(io, clock, 'making candidates');
  const notice = (line: string): void => {
    progress.stop();
    io.notice(line);
  };
  try {
    return await designVoice(order, { client, journal, options, notice });
  } finally {
    progress.stop();
    await journal.close();
  }
}

/** The design is paid for, and there: what goes wrong now takes nothing away. */
async function fetchPreviews(
  { clock, io, signal }: Context,
  { candidates, designId }: VoiceDesign,
  { connection, placeFor }: { connection: Connection; placeFor: PlaceFor },
): Promise<readonly CandidatePreview[]> {
  const progress = startProgress(io, clock, 'fetching the previews');
  const refs = candidates.map((candidate) => ({ ...candidate, designId }));
  const previews = await savePreviews(refs, { ...connection, placeFor, signal }).finally(() =>
    progress.stop(),
  );
  for (const { candidateId, failure } of previews) {
    if (failure === undefined) continue;
    const again = `foley design preview ${designId} ${candidateId}`;
    io.warn(
      `foley: the preview of ${candidateId} failed: ${failure.message}; \`${again}\` retries`,
    );
  }
  return previews;
}

/** A design with its saved previews, if they were requested. */
interface ToldDesign {
  readonly design: VoiceDesign;
  readonly previews: readonly CandidatePreview[] | undefined;
}

/** One line of the table of candidates. */
interface CandidateRow {
  readonly designId: string;
  readonly candidateId: string;
  readonly preview: string;
  readonly description: string;
}

function candidateRows({ design, previews = [] }: ToldDesign): readonly CandidateRow[] {
  return design.candidates.map(({ candidateId, description = '' }) => {
    const preview = previews.find((one) => one.candidateId === candidateId)?.saved?.path ?? '';
    return { designId: design.designId, candidateId, preview, description };
  });
}

/** The columns that have something in them; both ids are there to be copied. */
function candidateColumns(rows: readonly CandidateRow[]): readonly Column<CandidateRow>[] {
  return COLUMNS.filter(({ value }) => rows.some((row) => value(row) !== ''));
}

const COLUMNS: readonly Column<CandidateRow>[] = [
  { title: 'DESIGN', value: ({ designId }) => designId, whole: true },
  { title: 'CANDIDATE', value: ({ candidateId }) => candidateId, whole: true },
  { title: 'PREVIEW', value: ({ preview }) => preview },
  { title: 'DESCRIPTION', value: ({ description }) => description },
];

/** The document of `--json`. */
function designDocument(
  { design, previews }: ToldDesign,
  target: 'embedded' | 'hosted',
): Record<string, unknown> {
  const { creditsUsed, designId, expiresAt, quotaRemaining, raw, requestId } = design;
  return {
    designId,
    candidates: design.candidates.map(({ candidateId, previewAudioUrl }) => {
      const preview = previews?.find((one) => one.candidateId === candidateId);
      return {
        candidateId,
        previewAudioUrl: previewAudioUrl ?? null,
        output: preview?.saved?.path ?? null,
        ...(preview?.failure === undefined ? {} : { error: errorOf(preview.failure) }),
      };
    }),
    expiresAt: expiresAt ?? null,
    requestId,
    creditsUsed: creditsUsed ?? null,
    quotaRemaining: quotaRemaining ?? null,
    target,
    raw,
  };
}

function errorOf({ code, exitCode, message }: NonNullable<CandidatePreview['failure']>): object {
  return { code, message, exitCode };
}

/** What was made, what it cost and how to keep one, on lines for stderr. */
function designNotices(design: VoiceDesign): readonly string[] {
  const { candidates, designId, expiresAt } = design;
  const count = counted(candidates.length, 'candidate');
  const until = expiresAt === undefined ? '' : `, available until ${expiresAt}`;
  return [
    describeCost(`foley: design ${designId} has ${count}${until}`, {
      ...design,
      ignoredParameters: [],
    }),
    'foley: `foley design save DESIGN CANDIDATE --name NAME` saves one',
  ];
}

export interface DesignCreateFlags extends IdFlags {
  readonly previewText: string;
  readonly provider?: readonly string[];
  readonly outputDir?: string;
}
