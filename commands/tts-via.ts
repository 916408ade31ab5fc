import type { JobApi } from '../src/api/speech-jobs.ts';
import { usageFailure } from '../src/errors/failure.ts';
import type { OutputPlan } from '../src/speech/output-plan.ts';
import type { ChosenSurface } from './tts-surface.ts';

/** The ways of `--via`, in the order of the help. */
export const VIA_NAMES = ['auto', 'sync', 'job', 'aligned'] as const;
export type ViaName = (typeof VIA_NAMES)[number];

/**
 * How speech is asked for: in one answer, as a job whose audio is fetched, or in a stream that also tells
 * the times of the words.
 */
export type Via =
  | { readonly kind: 'sync' }
  | { readonly kind: 'aligned' }
  | { readonly kind: 'job'; readonly api: JobApi };

/** Above this the service recommends jobs (spec section 8). */
const SYNC_CHARACTERS = 2_500;

export interface ViaWishes {
  /** `--via`; default auto. */
  readonly via?: ViaName | undefined;
  /** `--cache`. */
  readonly cache?: true | undefined;
  /** The flag that asks for the times of words, if one does. */
  readonly captionFlag?: string | undefined;
  readonly chosen: ChosenSurface;
  readonly characters: number;
  readonly plan: OutputPlan;
}

/**
 * How the speech is asked for (contract, section 5, `--via`): a long text that goes into a file is a job,
 * since its audio can be fetched again; the rest is one answer, which streams.
 * @throws Failure (usage) for a way that the other flags exclude
 */
export function chooseVia(wishes: ViaWishes): Via {
  const { cache, captionFlag, characters, chosen, plan } = wishes;
  const { flag, name } = chosen;
  const via = captionFlag === undefined ? (wishes.via ?? 'auto') : alignedFor(captionFlag, wishes);
  const api = name === 'v3' || name === 'v1' ? name : undefined;
  switch (via) {
    case 'sync':
      return { kind: 'sync' };
    case 'aligned':
      if (name === 'v3') return { kind: 'aligned' };
      throw usageFailure(`--via aligned is not known to ${flag}`, 'v3 has aligned streams.');
    case 'job':
      if (api === undefined) {
        throw usageFailure(`--via job is not known to ${flag}`, 'v3 and v1 have jobs.');
      }
      if (cache === true) {
        throw usageFailure(
          '--cache stores the answer of a synchronous request, and --via job is none',
          'Leave one of them out; the audio of a job stays where it is anyway.',
        );
      }
      return { kind: 'job', api };
    case 'auto': {
      const toFile = plan.kind === 'file' || plan.kind === 'automatic';
      const isJob = toFile && characters > SYNC_CHARACTERS && api !== undefined && cache !== true;
      return isJob ? { kind: 'job', api } : { kind: 'sync' };
    }
  }
}

/** Only the aligned stream of v3 tells when words are said. */
function alignedFor(captionFlag: string, { chosen: { flag, name }, via }: ViaWishes): 'aligned' {
  if (name !== 'v3') {
    throw usageFailure(
      `${captionFlag} is not known to ${flag}, which does not tell when words are said`,
      'Leave --api out: v3 does.',
    );
  }
  if (via === 'sync' || via === 'job') {
    throw usageFailure(
      `${captionFlag} needs the times of words, and --via ${via} does not tell them`,
      'Leave --via out, or use --via aligned.',
    );
  }
  return 'aligned';
}
