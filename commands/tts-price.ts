import path from 'node:path';
import type { Connection, Context } from '../src/cli/context.ts';
import type { SpeechOrder } from '../src/api/speech-order.ts';
import type { CreditRates, RateKey } from '../src/speech/credit-rates.ts';
import { checkCredits, createCreditRates } from '../src/speech/credit-rates.ts';
import type { Spoken } from '../src/speech/speak.ts';
import type { Task } from './tts-task.ts';

/** A request and the service that it is for. */
export interface PricedRequest {
  readonly body: SpeechOrder;
  readonly connection: Connection;
}

/**
 * Refuses what may cost more than `--max-credits`.
 * @throws Failure (usage)
 */
export async function checkPrice(
  { characters, context, flags }: Task,
  request: PricedRequest,
): Promise<void> {
  const { creditRate, maxCredits } = flags;
  if (maxCredits === undefined) return;
  const rates = await creditRates(context);
  await checkCredits(characters, { maximum: maxCredits, given: creditRate }, () =>
    rates.seen(rateKey(request)),
  );
}

/** Remembers what a character cost, for the next estimate. */
export async function rememberPrice(
  { characters, context }: Task,
  request: PricedRequest,
  { creditsUsed }: Pick<Spoken['answer'], 'creditsUsed'>,
): Promise<void> {
  if (creditsUsed === undefined) return;
  const rates = await creditRates(context);
  // A price that cannot be written down is asked for the next time.
  await rates.remember(rateKey(request), [[characters, creditsUsed]]).catch(() => undefined);
}

/** What characters cost so far, as it is remembered. */
export async function creditRates(context: Context): Promise<CreditRates> {
  const { state } = await context.paths();
  return createCreditRates(path.join(state, 'credit-rates.json'), context);
}

/** Whose price a request has. */
export function rateKey({ body, connection }: PricedRequest): RateKey {
  const { address } = connection.client;
  return {
    service: connection.target === 'embedded' ? 'embedded' : address.baseUrl.origin,
    model: body.modelId ?? `default of ${body.voiceId}`,
  };
}
