import { HEADERS } from '../../contract/headers.ts';
import { speechMediaType } from '../synthesis/media-type.ts';
import type { SpeechPlan } from '../synthesis/plan.ts';
import type { SpokenStream } from '../synthesis/speak.ts';

/** The type of a stream of server-sent events. */
export const EVENT_STREAM = 'text/event-stream; charset=utf-8';

/** An answer of audio with what it cost (spec sections 4.1 to 4.4). */
export function audioAnswer(
  plan: SpeechPlan,
  stream: SpokenStream,
  { tellsIgnored }: { readonly tellsIgnored: boolean },
): Response {
  return paidAnswer(plan, stream, { type: speechMediaType(plan.format), tellsIgnored });
}

/**
 * An answer of whatever type with what it cost. Only v3 has a header for controls that were not
 * applied.
 */
export function paidAnswer(
  { charge, ignored }: Pick<SpeechPlan, 'charge' | 'ignored'>,
  { body, quotaRemaining }: SpokenStream,
  { type, tellsIgnored }: { readonly type: string; readonly tellsIgnored: boolean },
): Response {
  const headers = new Headers({
    'Content-Type': type,
    [HEADERS.quotaRemaining]: String(quotaRemaining),
    [HEADERS.creditsUsed]: String(charge.credits),
  });
  if (tellsIgnored && ignored.length > 0) headers.set(HEADERS.ignoredParameters, ignored.join(','));
  return new Response(body, { headers });
}
