import type { Transport } from '../../api/http-transport.ts';
import { parseRetryAfter } from '../../api/retry-after.ts';
import { LONGEST_RETRY_AFTER_MS } from '../../api/retry.ts';
import type { Clock } from '../../effects/clock.ts';
import type { RateGate } from './rate-gate.ts';

/** A transport whose requests all go through one gate, and tell it when the service had too many. */
export function gatedTransport(inner: Transport, gate: RateGate, clock: Clock): Transport {
  return {
    async request(request) {
      await gate.pass(request.signal);
      const answer = await inner.request(request);
      if (answer.status === 429) {
        const { headers } = answer;
        const asked = parseRetryAfter(headers.get('retry-after'), headers.get('date'), clock.now());
        // What is longer is not waited for by anybody: it ends the batch.
        const isWaited = asked === undefined || asked <= LONGEST_RETRY_AFTER_MS;
        if (isWaited) gate.refused(asked);
      }
      return answer;
    },
    close: () => inner.close(),
  };
}
