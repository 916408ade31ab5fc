import { DUBBING_TEMPO_RANGE } from '../../../contract/limits.ts';

/**
 * How much faster speech has to be to end with its video (spec section 4.7); `undefined` when that is
 * more than can be done without making it something else.
 */
export function tempoToFit(speechSeconds: number, videoSeconds: number): number | undefined {
  const tempo = speechSeconds / videoSeconds;
  const { maximum, minimum } = DUBBING_TEMPO_RANGE;
  return tempo >= minimum && tempo <= maximum ? tempo : undefined;
}
