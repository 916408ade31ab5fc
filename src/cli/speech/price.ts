import path from 'node:path';
import type { CreditRates, RateKey } from '../../speech/credit-rates.ts';
import { checkCredits, createCreditRates } from '../../speech/credit-rates.ts';
import type { Spoken } from '../../speech/speak.ts';
import type { Context } from '../command.ts';
import type { Task, PricedRequest } from './task.ts';

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
function rateKey({ body, connection }: PricedRequest): RateKey {
  const { address } = connection.client;
  return {
    service: connection.target === 'embedded' ? 'embedded' : address.baseUrl.origin,
    model: body.modelId ?? `default of ${body.voiceId}`,
  };
}
