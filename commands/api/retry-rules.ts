import type { RequestSpec } from '../../src/api/request.ts';
import { chargeOf } from '../../src/contract/charges.ts';
import type { Call } from './plan-call.ts';

const LOOK_AT =
  'Look at the service whether it was done (`foley profile` shows the credits) before you send it again.';

/**
 * What may be done when a call goes wrong (contract, section 5): a read is asked again; a create only
 * when it carries the header by which the service recognizes it; every other write never, once it
 * was sent.
 */
export function retryRules({
  headers: { idempotencyKey, requestId },
  method,
  path,
}: Pick<Call, 'headers' | 'method' | 'path'>): Pick<
  RequestSpec,
  'billed' | 'key' | 'lookAt' | 'retry'
> {
  const { billed, recognizedBy } = chargeOf(method, path);
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') {
    return { billed, retry: 'safe', key: keyOf(idempotencyKey) };
  }
  const recognized = recognizedBy === 'Idempotency-Key' ? idempotencyKey : requestId;
  const isKeyed = recognizedBy !== undefined && recognized !== undefined;
  return {
    billed,
    retry: isKeyed ? 'keyed' : 'never',
    key: keyOf(idempotencyKey),
    lookAt: isKeyed ? repeatHint(recognizedBy) : LOOK_AT,
  };
}

/** The user's own key, so that it is never replaced by another. */
function keyOf(value: string | undefined): RequestSpec['key'] {
  return value === undefined ? undefined : { value, madeByTool: false, sentAs: 'Idempotency-Key' };
}

function repeatHint(header: string): string {
  return `Send exactly the same again, with the same ${header}: it is not billed twice.`;
}
