import type { Failure } from '../errors/failure.ts';
import type { PurchaseState } from './purchase.ts';

interface RecordedPurchase {
  readonly state: PurchaseState;
  /** The job that makes the audio; undefined for a stream, and before the service accepted a job. */
  readonly jobId: string | undefined;
  /** Whether this computer has the complete audio. */
  readonly isPresent: boolean;
  /** Whether the service returns the same audio or the same job again for the same key; default no. */
  readonly isStored?: boolean | undefined;
}

export type NextStep =
  /** Use the audio that is on this computer. */
  | 'use'
  /** Send the request with the recorded key, which is billed at most once. */
  | 'send'
  /** Download the audio of the job, which is free. */
  | 'fetch'
  /** Send the request with a new key: the earlier request was refunded. */
  | 'renew'
  /** Give up: only a second purchase makes the audio. */
  | 'give up';

/** Decides how to continue a purchase that an earlier command, or an earlier attempt of this one, recorded. */
export function nextStep(purchase: RecordedPurchase): NextStep {
  const { isPresent, isStored = false, jobId, state } = purchase;
  const begun = isStored ? 'send' : 'give up';
  switch (state) {
    case 'failed':
      return 'renew';
    case 'lost':
      return 'give up';
    case 'planned':
    case 'sent':
      return jobId === undefined ? 'send' : 'fetch';
    case 'accepted':
      return jobId === undefined ? begun : 'fetch';
    case 'verified':
    case 'published':
      if (isPresent) return 'use';
      return jobId === undefined ? begun : 'fetch';
  }
}

/** What a failed request cost, and what can still be done with its idempotency key. */
export type Billing =
  /** The service refunded an earlier request with this key, which cannot be used again. Nothing is billed. */
  | 'refunded'
  /** The service refused the request. Nothing is billed, and the key can be used again. */
  | 'refused'
  /** Billed. The service stores the audio, and sends it again for the same key. */
  | 'stored'
  /** Perhaps billed. A repetition with the same key returns the audio or the outcome, and is not billed twice. */
  | 'unknown'
  /** Billed, perhaps only for a part of the audio. The service does not send the audio again. */
  | 'lost';

/**
 * Decides what a failed request cost.
 * @param hasBegun whether the service had begun to send the audio
 */
export function billingOf(failure: Failure, hasBegun: boolean): Billing {
  if (isRefunded(failure)) return 'refunded';
  if (failure.details?.['audio_url'] !== undefined) return 'stored';
  if (failure.billed === 'no') return 'refused';
  return failure.billed === 'unknown' && !hasBegun ? 'unknown' : 'lost';
}

// The service refuses a request if an earlier one with its idempotency key was refunded.
function isRefunded({ code }: Failure): boolean {
  return code === 'ERR_REQUEST_PREVIOUSLY_REFUNDED';
}

/**
 * Decides what became of an interrupted request, from the failure of its repetition under the same key. Returns
 * undefined if the outcome is still unknown.
 * @param isStream whether the response is audio, which the service sends only once
 */
export function outcomeOfRepetition(
  failure: Failure,
  isStream: boolean,
): 'lost' | 'refunded' | 'rejected' | undefined {
  const { code, status = 0 } = failure;
  if (isRefunded(failure)) return 'refunded';
  // The same request cannot conflict with itself: another request used the key.
  if (status === 409 && code === 'ERR_REQUEST_ID_CONFLICT') return 'rejected';
  // An invalid body was invalid before, too. Errors without a code are not from the service.
  if (code.startsWith('ERR_') && [400, 413, 415, 422].includes(status)) return 'rejected';
  return isStream && code === 'ERR_REQUEST_ALREADY_COMPLETED' ? 'lost' : undefined;
}
