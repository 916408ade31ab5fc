import { HEADERS } from '../../contract/headers.ts';
import { speechMediaType } from '../synthesis/media-type.ts';
import type { SpeechPlan } from '../synthesis/plan.ts';
import type { SpokenStream } from '../synthesis/speak.ts';

/**
 * An answer of audio with what it cost (spec sections 4.1 to 4.4). Only v3 has a header for controls
 * that were not applied.
 */
export function audioAnswer(
  { charge, format, ignored }: SpeechPlan,
  { body, quotaRemaining }: SpokenStream,
  { tellsIgnored }: { readonly tellsIgnored: boolean },
): Response {
  const headers = new Headers({
    'Content-Type': speechMediaType(format),
    [HEADERS.quotaRemaining]: String(quotaRemaining),
    [HEADERS.creditsUsed]: String(charge.credits),
  });
  if (tellsIgnored && ignored.length > 0) headers.set(HEADERS.ignoredParameters, ignored.join(','));
  return new Response(body, { headers });
}
