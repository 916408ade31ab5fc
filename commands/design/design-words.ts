import type { VoiceDesign } from '../../src/api/voice-designs.ts';
import type { Column } from '../../src/cli/table.ts';
import { counted } from '../../src/text/counted.ts';
import type { CandidatePreview } from '../../src/voices/candidate-previews.ts';
import { withCost } from '../tts-words.ts';

/** A design with what became of its previews, where they were wanted. */
export interface ToldDesign {
  readonly design: VoiceDesign;
  readonly previews: readonly CandidatePreview[] | undefined;
}

/** One line of the table of candidates. */
export interface CandidateRow {
  readonly designId: string;
  readonly candidateId: string;
  readonly preview: string;
  readonly description: string;
}

export function candidateRows({ design, previews = [] }: ToldDesign): readonly CandidateRow[] {
  return design.candidates.map(({ candidateId, description = '' }) => {
    const preview = previews.find((one) => one.candidateId === candidateId)?.saved?.path ?? '';
    return { designId: design.designId, candidateId, preview, description };
  });
}

/** The columns that have something in them; both ids are there to be copied. */
export function candidateColumns(rows: readonly CandidateRow[]): readonly Column<CandidateRow>[] {
  return COLUMNS.filter(({ value }) => rows.some((row) => value(row) !== ''));
}

const COLUMNS: readonly Column<CandidateRow>[] = [
  { title: 'DESIGN', value: ({ designId }) => designId, whole: true },
  { title: 'CANDIDATE', value: ({ candidateId }) => candidateId, whole: true },
  { title: 'PREVIEW', value: ({ preview }) => preview },
  { title: 'DESCRIPTION', value: ({ description }) => description },
];

/** The document of `--json`. */
export function designDocument(
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
export function designNotices(design: VoiceDesign): readonly string[] {
  const { candidates, designId, expiresAt } = design;
  const count = counted(candidates.length, 'candidate');
  const until = expiresAt === undefined ? '' : `, there until ${expiresAt}`;
  return [
    withCost(`foley: the design ${designId} has ${count}${until}`, {
      ...design,
      ignoredParameters: [],
    }),
    'foley: `foley design save DESIGN CANDIDATE --name NAME` keeps one',
  ];
}
