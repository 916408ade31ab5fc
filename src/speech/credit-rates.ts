import path from 'node:path';
import { isObject, readJsonFile } from '../config/json-file.ts';
import type { Failure } from '../errors/failure.ts';
import { usageFailure } from '../errors/failure.ts';
import type { System } from '../system/system.ts';
import { ensurePrivateFolder } from '../durable/own-files.ts';
import { replaceFile } from '../durable/publish.ts';
import { counted } from '../text/display.ts';

/** A charge: the length of a text in characters, and the credits that speaking the text cost. */
export type Charge = readonly [characters: number, credits: number];

/** Identifies the charges that are stored together: those of one model on one service. */
export interface RateKey {
  readonly service: string;
  /** The id of the model, or the name of the default model of a voice (`modelOf`). */
  readonly model: string;
}

/** Names the charges of all requests without a model, for any voice. */
export const ANY_DEFAULT_MODEL = 'default';

const DEFAULT_MODEL_OF = 'default of ';

/** Returns the model of a request as part of a {@link RateKey}. If the request names no model, it is that of the voice. */
export function modelOf(modelId: string | undefined, voiceId: string): string {
  return modelId ?? DEFAULT_MODEL_OF + voiceId;
}

export interface CreditRates {
  seen(key: RateKey): Promise<readonly Charge[]>;
  remember(key: RateKey, charges: readonly Charge[]): Promise<void>;
}

export function createCreditRates(file: string, deps: System): CreditRates {
  const read = async (service: string) => {
    const known = (await readJsonFile(deps.files, file, 'refuse')) ?? {};
    const models = known[service];
    return { known, models: isObject(models) ? models : {} };
  };
  return {
    seen: async ({ model, service }) => chargesIn((await read(service)).models[model]),
    async remember({ model, service }, charges) {
      const { known, models } = await read(service);
      const names = model.startsWith(DEFAULT_MODEL_OF) ? [model, ANY_DEFAULT_MODEL] : [model];
      const after = names.map(
        (name) => [name, charges.reduce(withCharge, chargesIn(models[name]))] as const,
      );
      const changed = { ...models, ...Object.fromEntries(after) };
      if (JSON.stringify(changed) === JSON.stringify(models)) return;
      const next = { ...known, [service]: changed };
      await ensurePrivateFolder(path.dirname(file), deps.files);
      await replaceFile(deps, { path: file, data: Buffer.from(`${JSON.stringify(next)}\n`) });
    },
  };
}

// Earlier versions of foley stored only the highest rate per character.
function chargesIn(value: unknown): readonly Charge[] {
  if (typeof value === 'number') return [[LENGTH_OF_RATE, value * LENGTH_OF_RATE]];
  if (!Array.isArray(value)) return [];
  return value.filter(
    (one): one is Charge =>
      Array.isArray(one) &&
      one.length === 2 &&
      one.every((part) => Number.isFinite(part)) &&
      one[0] > 0,
  );
}

const LENGTH_OF_RATE = 1000;

/**
 * Refuses requests that together may cost more than `--max-credits`. The cost of a request is its number of characters
 * times `given` (credits per character), rounded up. If `given` is undefined, the cost is estimated from earlier
 * charges.
 * @param lengths number of characters of each request
 * @throws Failure of kind `usage`; nothing was sent
 */
export async function checkCredits(
  lengths: readonly number[],
  { maximum, given }: { readonly maximum: number; readonly given: number | undefined },
  seen: () => Promise<readonly Charge[]>,
): Promise<void> {
  const charges = given === undefined ? await seen() : [];
  let estimate = 0;
  for (const length of lengths) {
    const credits =
      given === undefined ? estimateCredits(charges, length) : Math.ceil(length * given);
    if (credits === undefined) throw unknownPrice();
    estimate += credits;
  }
  if (estimate <= maximum) return;
  const characters = lengths.reduce((sum, length) => sum + length, 0);
  const rate = given === undefined ? '' : ` at ${counted(given, 'credit')} each`;
  const length = counted(characters, 'character');
  throw usageFailure(
    `--max-credits is ${maximum}, but this command may cost ${counted(estimate, 'credit')} (${length}${rate})`,
    'Raise --max-credits, or shorten the text. Nothing was sent.',
  );
}

function unknownPrice(): Failure {
  return usageFailure(
    '--max-credits requires the price per character, which foley does not know for this model yet',
    'Pass --credit-rate N (credits per character), or speak a short text first.',
  );
}

/**
 * Estimates the highest cost of a request from earlier charges. Assumes a fixed price per request plus a price per
 * character. Returns undefined if there are no earlier charges.
 */
export function estimateCredits(
  charges: readonly Charge[],
  characters: number,
): number | undefined {
  if (charges.length === 0) return undefined;
  const { least, most } = slopesOf(charges);
  // No price fits all costs, so it has changed: use the highest rate.
  if (least > most) return Math.ceil(characters * Math.max(...charges.map(([n, c]) => c / n)));
  const bounds = charges.map(([n, c]) => c + (characters - n) * (characters >= n ? most : least));
  return Math.max(0, Math.ceil(Math.min(...bounds) - ROUNDING));
}

/**
 * Adds a charge to the list. Removes an older charge if its text has a similar length, or if no price per request and
 * per character explains both charges.
 */
export function withCharge(charges: readonly Charge[], charge: Charge): readonly Charge[] {
  const [characters] = charge;
  if (!(characters > 0)) return charges;
  const others = charges.filter((other) => {
    const { least, most } = slopesOf([other, charge]);
    return least <= most && sizeOf(other) !== sizeOf(charge);
  });
  return [...others, charge].toSorted(([a], [b]) => a - b);
}

function slopesOf(charges: readonly Charge[]): { readonly least: number; readonly most: number } {
  // The price per request is not negative.
  let most = Math.min(...charges.map(([n, c]) => c / n));
  // One charge does not show the price per request: assume a price per character only.
  let least = charges.length === 1 ? most : 0;
  for (const [n, c] of charges) {
    for (const [longer, more] of charges.filter(([other]) => other > n)) {
      most = Math.min(most, (more - c + 1) / (longer - n));
      least = Math.max(least, (more - c - 1) / (longer - n));
    }
  }
  return { least, most };
}

function sizeOf([characters]: Charge): number {
  return Math.floor(Math.log2(characters));
}

const ROUNDING = 1e-9;
