import type { RateKey } from '../../../src/speech/credit-rates.ts';
import { checkCredits, modelOf } from '../../../src/speech/credit-rates.ts';
import { countCodePoints } from '../../../src/text/code-points.ts';
import { creditRates } from '../journal.ts';
import type { Cost } from '../../../src/cli/render/result.ts';
import type { OpenedSpeech, SpeechTask } from './plan.ts';
import { partOrders } from './plan.ts';

/**
 * Refuses a text that may cost more than `--max-credits`. The parts of a split text are billed separately, so each is
 * estimated by itself. Reused audio costs nothing.
 * @param needsWords whether the audio has word times
 * @throws Failure of kind `usage` if the text may cost too much or the price is unknown
 */
export async function checkPrice(
  { chosen: { name: surface }, context, flags }: SpeechTask,
  request: OpenedSpeech,
  needsWords = false,
): Promise<void> {
  const { creditRate, maxCredits } = flags;
  if (maxCredits === undefined) return;
  const rates = await creditRates(context);
  const { body, parts, reuse } = request;
  const orders = parts === undefined ? [body] : partOrders(body, parts);
  const lengths: number[] = [];
  for (const order of orders) {
    const isReused = (await reuse?.has({ surface, order, needsWords })) === true;
    if (!isReused) lengths.push(countCodePoints(order.text));
  }
  if (lengths.length === 0) return;
  await checkCredits(lengths, { maximum: maxCredits, given: creditRate }, () =>
    rates.seen(rateKey(request)),
  );
}

/**
 * Saves the price and the text length of a request, so that foley can estimate the prices of later requests. Does nothing
 * for reused audio.
 */
export async function rememberPrice(
  { characters, context }: SpeechTask,
  request: OpenedSpeech,
  { creditsUsed, reused }: Cost,
): Promise<void> {
  if (creditsUsed === undefined || reused !== undefined) return;
  const rates = await creditRates(context);
  // A rate that cannot be saved is learned from the next request.
  await rates.remember(rateKey(request), [[characters, creditsUsed]]).catch(() => undefined);
}

function rateKey({ body, connection }: OpenedSpeech): RateKey {
  const { address } = connection.client;
  return {
    service: connection.target === 'embedded' ? 'embedded' : address.baseUrl.origin,
    model: modelOf(body.modelId, body.voiceId),
  };
}
