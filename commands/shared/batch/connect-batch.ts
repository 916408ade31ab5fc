import type { ApiClient } from '../../../src/api/client.ts';
import { createTransport } from '../../../src/api/transport/http.ts';
import type { BatchItem } from '../../../src/batch/plan/plan.ts';
import type { Shard } from '../../../src/batch/plan/shard.ts';
import type { CaptionOptions } from '../../../src/batch/run/batch-options.ts';
import { captionNames } from '../../../src/batch/run/item-captions.ts';
import type { ClassifiedItem } from '../../../src/batch/run/classify.ts';
import type { RerunOptions } from '../../../src/batch/run/batch-options.ts';
import { textsToBuy } from '../../../src/batch/run/classify.ts';
import { gatedTransport, RateGate } from '../../../src/batch/run/rate-gate.ts';
import type { Context } from '../../../src/cli/command.ts';
import { openClient } from '../../../src/cli/connect.ts';
import type { CostFlags } from '../flags/speech.ts';
import type { VoiceFlags } from '../flags/voices.ts';
import { namedVoice } from '../flags/voices.ts';
import { creditRates } from '../journal.ts';
import type { CommandResult } from '../../../src/cli/render/result.ts';
import { abortable } from '../../../src/system/concurrency.ts';
import { usageFailure } from '../../../src/errors/failure.ts';
import type { Charge, CreditRates, RateKey } from '../../../src/speech/credit-rates.ts';
import { counted } from '../../../src/text/display.ts';
import { estimateCredits, modelOf, withCharge } from '../../../src/speech/credit-rates.ts';
import type { PronunciationsByVoice } from '../../../src/speech/pronunciations.ts';
import { display } from '../../../src/text/display.ts';

/** The flags of a batch that affect its requests and its cost. */
export interface BatchRunFlags extends CostFlags, VoiceFlags {
  readonly idempotencyNamespace?: string;
  readonly report?: string;
}

/** What the check of all items found. */
export interface CheckedItems {
  /** Number of items in all shards; undefined if the batch is not split. */
  readonly total?: number | undefined;
  /** Whether at least one item names no voice, so that the default voice is needed. */
  readonly needsVoice: boolean;
  /** The first item for the default voice whose text does not look English. */
  readonly foreign?: ForeignItem | undefined;
  /** The phonemes of all items by voice. The voice id of items for the default voice is empty. */
  readonly pronunciations: PronunciationsByVoice;
}

/** A batch command with valid flags and inputs. */
export interface PreparedBatch extends CheckedItems {
  readonly flags: BatchRunFlags;
  readonly shard: Shard | undefined;
  readonly concurrency: number;
  readonly rerun: RerunOptions;
  /** Digest of the item ids given to `--redo`; undefined without `--redo`. */
  readonly redo: string | undefined;
  /** Whether this run created the output folder. If so, foley removes the folder when no request was sent. */
  readonly isNewFolder?: boolean;
  /** Caption options. With captions, items are spoken as a stream with word times; otherwise as jobs. */
  readonly captions: CaptionOptions | undefined;
  /** Yields the items of this shard of the batch (`--shard`). Each call starts with the first item. */
  items(voiceId: string): AsyncIterable<BatchItem>;
  /**
   * Opens the final output of the batch. Called before anything is billed, while the output folder is locked.
   * @param temporaries folder for temporary files
   */
  readonly openProduct?: (temporaries: string) => Promise<BatchProduct>;
}

/** An item whose text looks like another language than English. */
export interface ForeignItem {
  readonly id: string;
  readonly text: string;
}

/** The final output of a batch, made from the audio of all items, such as one joined recording. */
export interface BatchProduct {
  /** Creates the final output. Called when the audio of all items is in the output folder. */
  make(): Promise<CommandResult>;
  /** Removes the unfinished output. Never throws. */
  abandon(): Promise<void>;
}

/** Returns a function that lists the caption files of an item, given the name of the item's output. */
export function sidecarsOf(captions: CaptionOptions | undefined) {
  return (output: string): readonly string[] => captionNames(output, captions?.formats ?? []);
}

/** The connection of a batch to the service. After a 429 response (rate limit), all requests of the batch wait. */
export interface BatchConnection {
  readonly client: ApiClient;
  readonly origin: string;
  readonly target: 'embedded' | 'hosted';
  /** Id of the voice for items that name no voice; empty if every item names a voice. */
  readonly voiceId: string;
  close(): Promise<void>;
}

/**
 * Connects to the service. If an item needs the default voice, also looks up that voice. Checks that the voices of items
 * with phonemes speak them.
 * @throws Failure
 */
export async function connectBatch(
  context: Context,
  { flags, foreign, needsVoice, pronunciations }: PreparedBatch,
): Promise<BatchConnection> {
  const { client: plain, target } = await abortable(
    context.connect({ speaks: true }),
    context.signal,
  );
  const { address } = plain;
  const { clock } = context.system;
  const transport = createTransport({ clock, env: context.env });
  const gated = gatedTransport(transport, new RateGate(clock), clock);
  const client = openClient(context, address, gated);
  try {
    const origin = target === 'embedded' ? target : address.baseUrl.href.replace(/\/+$/, '');
    const textName = foreign && `item ${display(foreign.id)}`;
    const voiceId = needsVoice
      ? await namedVoice(context, flags, client, target, foreign?.text, textName)
      : '';
    await pronunciations.check(client, (id) => (id === '' ? voiceId : id), context.signal);
    return { client, origin, target, voiceId, close: () => client.close() };
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** Returns the number of items in other shards; undefined if the batch is not split. */
export function otherShardsOf({ total }: CheckedItems, { items }: Overview): number | undefined {
  return total === undefined ? undefined : total - items;
}

/** Returns the end of a summary: how many items are in other shards. */
export function otherShardsText(count: number | undefined): string {
  return count === undefined ? '' : `, ${count} in other shards`;
}

export interface Overview {
  readonly items: number;
  /** Number of items to speak, including interrupted items, which reuse their idempotency keys. */
  readonly toSpeak: number;
  readonly toFetch: number;
  /** Number of items that need no speech: their audio comes from another file or from an identical item. */
  readonly toReuse: number;
  readonly skipped: number;
  /** Number of items that failed earlier. foley tries these items again only if the user passes a flag. */
  readonly failed: number;
  readonly characters: number;
  /** Estimated cost in credits; null if the price of an item is unknown. */
  readonly estimatedCredits: number | null;
}

/**
 * Counts the items by what the batch will do with them, and estimates the cost.
 * @param options `reuse`: the bought audio to reuse (`--reuse`)
 */
export async function overviewOf(
  items: AsyncIterable<ClassifiedItem>,
  estimator: Estimator,
  options: Parameters<typeof textsToBuy>[1],
): Promise<Overview & { readonly uncaptioned: number }> {
  let uncaptioned = 0;
  const counts = { speak: 0, fetch: 0, reuse: 0, share: 0, skip: 0, ended: 0 };
  let characters = 0;
  let estimate: number | null = 0;
  const parts = new Set<string>();
  for await (const classified of items) {
    const { decision, isUncaptioned, item } = classified;
    if (isUncaptioned) uncaptioned += 1;
    const unpaid =
      decision.kind === 'speak' ? await textsToBuy(classified, options) : classified.unpaid;
    counts[isReusable(classified, unpaid) ? 'reuse' : decision.kind] += 1;
    if (decision.kind !== 'speak') continue;
    for (const [body, { characters: length }] of unpaid) {
      // Equal parts of several items are spoken and billed once.
      if (parts.has(body)) continue;
      if (item.parts !== undefined) parts.add(body);
      characters += length;
      // Each request is billed separately, and rounded up.
      const credits = await estimator.creditsOf({ ...item, characters: length });
      estimate = estimate === null || credits === undefined ? null : estimate + credits;
    }
  }
  return {
    items: Object.values(counts).reduce((sum, count) => sum + count, 0),
    toSpeak: counts.speak,
    toFetch: counts.fetch,
    toReuse: counts.reuse + counts.share,
    skipped: counts.skip,
    failed: counts.ended,
    characters,
    estimatedCredits: estimate,
    uncaptioned,
  };
}

/** Returns whether an item costs nothing, because `--reuse` finds all of its audio. */
export function isReusable(
  { decision, unpaid }: ClassifiedItem,
  toBuy: ClassifiedItem['unpaid'],
): boolean {
  return decision.kind === 'speak' && unpaid.size > 0 && toBuy.size === 0;
}

/** Prints how many items were bought without captions, and are bought again because they need word times. */
export function noticeUncaptioned(count: number, io: Context['io']): void {
  if (count === 0) return;
  const [items, they] = count === 1 ? ['1 item has', 'it is'] : [`${count} items have`, 'they are'];
  io.notice(
    `foley: ${items} audio without captions: ${they} spoken and billed again with word times; \`foley align\` captions existing audio for free`,
  );
}

/** Creates an estimator for the cost of items. @param given value of `--credit-rate`, in credits per character */
export async function createEstimator(
  context: Context,
  given: number | undefined,
  { client, target }: BatchConnection,
): Promise<Estimator> {
  const service = target === 'embedded' ? target : client.address.baseUrl.origin;
  return new Estimator(await creditRates(context), service, given);
}

class Estimator {
  readonly #rates: CreditRates;
  readonly #service: string;
  readonly #given: number | undefined;
  readonly #known = new Map<string, readonly Charge[]>();
  readonly #learned = new Map<string, readonly Charge[]>();

  constructor(rates: CreditRates, service: string, given: number | undefined) {
    this.#rates = rates;
    this.#service = service;
    this.#given = given;
  }

  /** Returns the estimated cost of an item in credits; undefined if the price is unknown. */
  async creditsOf(item: BatchItem): Promise<number | undefined> {
    const key = this.#keyOf(item);
    if (this.#given === undefined && !this.#known.has(key.model)) {
      this.#known.set(key.model, await this.#rates.seen(key));
    }
    return this.#estimate(item);
  }

  /** Returns the estimated cost of an item in credits, using only prices in memory; 0 if the price is unknown. */
  knownCredits(item: BatchItem): number {
    return this.#estimate(item) ?? 0;
  }

  learn(item: BatchItem, credits: number): void {
    // Reused audio costs nothing. The cost of an item with pauses may cover only some of its parts.
    if (credits === 0 || item.parts !== undefined) return;
    const { model } = this.#keyOf(item);
    const before = this.#learned.get(model) ?? [];
    this.#learned.set(model, withCharge(before, [item.characters, credits]));
  }

  /** Saves the costs of the spoken items, so that later commands can estimate costs. Never throws. */
  async save(): Promise<void> {
    for (const [model, charges] of this.#learned) {
      await this.#rates.remember({ service: this.#service, model }, charges).catch(() => undefined);
    }
  }

  #estimate(item: BatchItem): number | undefined {
    const { characters } = item;
    if (this.#given !== undefined) return Math.ceil(characters * this.#given);
    return estimateCredits(this.#known.get(this.#keyOf(item).model) ?? [], characters);
  }

  #keyOf({ order }: BatchItem): RateKey {
    return { service: this.#service, model: modelOf(order.modelId, order.voiceId) };
  }
}

/**
 * Refuses a batch that may cost more than `--max-credits`.
 * @param estimate estimated cost in credits; undefined if the price of an item is unknown
 * @throws Failure of kind `usage`
 */
export function checkEstimate(estimate: number | undefined, maximum: number | undefined): void {
  if (maximum === undefined) return;
  if (estimate === undefined) {
    throw usageFailure(
      '--max-credits requires a price per character, but the price of a model in this batch is unknown',
      'Pass --credit-rate N (credits per character), or speak a short text first.',
    );
  }
  if (estimate <= maximum) return;
  throw usageFailure(
    `--max-credits is ${maximum}, but this command may cost ${counted(estimate, 'credit')}`,
    'Raise --max-credits, or speak fewer texts. Nothing was sent.',
  );
}
