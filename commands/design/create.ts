import type { BilledCallOptions } from '../../src/api/request.ts';
import type { DesignRequest, CreatedDesign } from '../../src/api/resources/designs.ts';
import type { CommandDefinition, Context, ServiceConnection } from '../../src/cli/command.ts';
import { dryRunOption, idOptions } from '../shared/flags/speech.ts';
import { addOptions, filled, listOption, textOption } from '../../src/cli/flags/values.ts';
import { designRequest } from '../../src/api/resources/designs.ts';
import type { DryRunFlag, IdFlags } from '../shared/flags/speech.ts';
import { folderPlace, PREVIEW_FOLDER } from '../shared/jobs/places.ts';
import { withJournal } from '../shared/journal.ts';
import { startProgress } from '../../src/cli/render/progress.ts';
import type { CommandResult, DryRunDocument } from '../../src/cli/render/result.ts';
import type { Column } from '../../src/cli/render/table.ts';
import { dryRunResult, describeCost } from '../../src/cli/render/result.ts';
import type { OpenDestination } from '../../src/paid/job.ts';
import { counted } from '../../src/text/display.ts';
import type { CandidatePreview } from '../../src/voices/candidate-previews.ts';
import { savePreviews } from '../../src/voices/candidate-previews.ts';
import { designVoice } from '../../src/voices/create.ts';
import type { FailureSummary } from '../../src/errors/failure.ts';

/** Defines the command `foley design create PROMPT` (docs/api/voice-design.md). */
export const definition: CommandDefinition<DesignCreateFlags, DesignDocument | DryRunDocument> = {
  freeText: true,
  configure(command) {
    command
      .description(
        'Creates candidate voices from a description, and lists them. Candidates are temporary: ' +
          'listen to them, and keep one with `foley design save`.',
      )
      .argument('<prompt>', 'description of the voice')
      .addHelpText('after', EXAMPLES);
    addOptions(command, [
      textOption(
        '--preview-text <text>',
        'text that the candidates speak (required)',
      ).makeOptionMandatory(),
      listOption('--provider <name>', 'engine family to use', filled('--provider')),
      textOption(
        '--output-dir <folder>',
        'save every preview in this folder, as <candidate>.<ext>',
      ),
      ...idOptions(),
      dryRunOption(),
    ]);
  },
  async run(context, { args: [given = ''], options }) {
    const { previewText, provider } = options;
    const order: DesignRequest = {
      prompt: filled('PROMPT')(given),
      previewText,
      ...(provider === undefined ? {} : { providers: [...new Set(provider)] }),
    };
    if (options.dryRun !== true) return createDesign(context, order, options);
    const { client } = await context.connect();
    return dryRunResult(client.describe(designRequest(order, designOptions(context, options))));
  },
};

const EXAMPLES = `
Examples:
  $ foley design create "An old man, deep and slow" \\
      --preview-text "Good evening." --output-dir candidates`;

async function createDesign(
  context: Context,
  order: DesignRequest,
  { outputDir, ...flags }: DesignCreateFlags,
): Promise<CommandResult<DesignDocument>> {
  const { clock } = context.system;
  const { io } = context;
  const placeFor =
    outputDir === undefined ? undefined : await folderPlace(context, outputDir, PREVIEW_FOLDER);
  const connection = await context.connect();
  const progress = startProgress(io, clock, 'creating candidates');
  const design = await withJournal(
    context,
    () => progress.stop(),
    (tools) =>
      designVoice(order, { ...connection, options: designOptions(context, flags), ...tools }),
  );
  const { candidates, designId, expiresAt } = design;
  const count = counted(candidates.length, 'candidate');
  const until = expiresAt === undefined ? '' : `, available until ${expiresAt}`;
  const cost = { ...design, ignoredParameters: [] };
  io.notice(describeCost(`foley: design ${designId} has ${count}${until}`, cost));
  for (const notice of design.notices) io.notice(`foley: ${notice}`);
  io.notice('foley: `foley design save DESIGN CANDIDATE --name NAME` saves one');
  const previews =
    placeFor === undefined
      ? undefined
      : await fetchPreviews(context, design, { connection, placeFor });
  const rows = candidates.map(({ candidateId, description = '' }): CandidateRow => {
    const preview = previews?.find((one) => one.candidateId === candidateId)?.saved?.path ?? '';
    return { designId, candidateId, preview, description };
  });
  const columns = COLUMNS.filter(({ value }) => rows.some((row) => value(row) !== ''));
  const { table } = await import('../../src/cli/render/table.ts');
  return {
    data: designDocument(design, previews, connection.target),
    human: (style) => table(rows, columns, style),
    exit: previews?.some(({ failure }) => failure !== undefined) === true ? 'partial' : 'ok',
  };
}

/** Returns the options of a voice design request. Generates an idempotency key if the user set none. */
export function designOptions(
  { system: { random }, signal }: Context,
  { idempotencyKey, requestId }: IdFlags,
): BilledCallOptions {
  const value = idempotencyKey ?? random.uuid();
  const madeByTool = idempotencyKey === undefined;
  return { idempotencyKey: { value, madeByTool }, requestId, signal };
}

async function fetchPreviews(
  { system: { clock }, io, signal }: Context,
  { candidates, designId }: CreatedDesign,
  { connection, placeFor }: { connection: ServiceConnection; placeFor: OpenDestination },
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

interface CandidateRow {
  readonly designId: string;
  readonly candidateId: string;
  readonly preview: string;
  readonly description: string;
}

const COLUMNS: readonly Column<CandidateRow>[] = [
  { title: 'DESIGN', value: ({ designId }) => designId, whole: true },
  { title: 'CANDIDATE', value: ({ candidateId }) => candidateId, whole: true },
  { title: 'PREVIEW', value: ({ preview }) => preview },
  { title: 'DESCRIPTION', value: ({ description }) => description },
];

/** A voice design with its candidates. */
export interface DesignDocument {
  readonly designId: string;
  readonly candidates: readonly CandidateDocument[];
  /** ISO 8601. */
  readonly expiresAt: string | null;
  readonly requestId: string;
  readonly creditsUsed: number | null;
  readonly quotaRemaining: number | null;
  readonly target: 'embedded' | 'hosted';
  /** The response of the service. */
  readonly raw: unknown;
}

interface CandidateDocument {
  readonly candidateId: string;
  readonly previewAudioUrl: string | null;
  /** Path of the saved preview. */
  readonly output: string | null;
  /** Why the preview was not saved. */
  readonly error?: FailureSummary;
}

function designDocument(
  design: CreatedDesign,
  previews: readonly CandidatePreview[] | undefined,
  target: 'embedded' | 'hosted',
): DesignDocument {
  const { creditsUsed, designId, expiresAt, quotaRemaining, raw, requestId } = design;
  return {
    designId,
    candidates: design.candidates.map(({ candidateId, previewAudioUrl }) => {
      const preview = previews?.find((one) => one.candidateId === candidateId);
      return {
        candidateId,
        previewAudioUrl: previewAudioUrl ?? null,
        output: preview?.saved?.path ?? null,
        ...(preview?.failure === undefined ? {} : { error: preview.failure.summary }),
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

export interface DesignCreateFlags extends IdFlags, DryRunFlag {
  readonly previewText: string;
  readonly provider?: readonly string[];
  readonly outputDir?: string;
}
