import path from 'node:path';
import { isObject, readJsonFile } from '../config/json-file.ts';
import { usageFailure } from '../errors/failure.ts';
import type { FileDeps } from '../durable/files.ts';
import { ensurePrivateFolder } from '../durable/own-files.ts';
import { replaceFile } from '../durable/publish.ts';
import { counted } from '../text/display.ts';

/** What one request cost: characters and credits. */
export type Charge = readonly [characters: number, credits: number];

/** Whose price it is: the service and account, and the model or the voice whose default is used. */
export interface RateKey {
  readonly service: string;
  readonly model: string;
}

/** What requests cost, by service, account and model. */
export interface CreditRates {
  seen(key: RateKey): Promise<readonly Charge[]>;
  /** Remembers what requests cost. */
  remember(key: RateKey, charges: readonly Charge[]): Promise<void>;
}

export function createCreditRates(file: string, deps: FileDeps): CreditRates {
  const read = async (): Promise<Readonly<Record<string, unknown>>> =>
    (await readJsonFile(deps.files, file, 'refuse')) ?? {};
  return {
    async seen({ model, service }) {
      const models = (await read())[service];
      return chargesIn(isObject(models) ? models[model] : undefined);
    },
    async remember({ model, service }, charges) {
      const known = await read();
      const models = known[service];
      const before = chargesIn(isObject(models) ? models[model] : undefined);
      const after = charges.reduce(withCharge, before);
      if (JSON.stringify(after) === JSON.stringify(before)) return;
      const next = {
        ...known,
        [service]: { ...(isObject(models) ? models : {}), [model]: after },
      };
      await ensurePrivateFolder(path.dirname(file), deps.files);
      await replaceFile({ ...deps, path: file, data: Buffer.from(`${JSON.stringify(next)}\n`) });
    },
  };
}

/** Earlier versions kept the highest credits per character alone. */
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
 * Refuses work that may cost more than the person allows: characters × the rate that was
 * given, else an estimate from what other texts cost (`--max-credits`).
 * @throws Failure (usage); nothing was sent
 */
export async function checkCredits(
  characters: number,
  { maximum, given }: { readonly maximum: number; readonly given: number | undefined },
  seen: () => Promise<readonly Charge[]>,
): Promise<void> {
  const estimate =
    given === undefined ? estimateCredits(await seen(), characters) : Math.ceil(characters * given);
  if (estimate === undefined) {
    throw usageFailure(
      '--max-credits needs the price of a character, and none was seen yet for this model',
      'Give it with --credit-rate N (credits per character), or speak something short first.',
    );
  }
  if (estimate <= maximum) return;
  throw usageFailure(
    `--max-credits is ${maximum}, and this may cost ${estimate} (${counted(characters, 'character')}${given === undefined ? '' : ` at ${given} credits`})`,
    'Raise --max-credits, or shorten the text. Nothing was sent.',
  );
}

/**
 * Estimates the credits of a request from what others cost, for a price per request and one per character,
 * rounded up: the highest that fits what was seen, so that the service charges no more. From one length
 * alone the price is taken as proportional. Undefined when nothing was seen.
 */
export function estimateCredits(
  charges: readonly Charge[],
  characters: number,
): number | undefined {
  if (charges.length === 0) return undefined;
  const { least, most } = slopesOf(charges);
  // The price changed meanwhile: the worst of it counts.
  if (least > most) return Math.ceil(characters * Math.max(...charges.map(([n, c]) => c / n)));
  const bounds = charges.map(([n, c]) => c + (characters - n) * (characters >= n ? most : least));
  return Math.max(0, Math.ceil(Math.min(...bounds) - ROUNDING));
}

/** Adds what a request cost; of lengths that are much the same the latest stays, and what contradicts it goes. */
export function withCharge(charges: readonly Charge[], charge: Charge): readonly Charge[] {
  const [characters] = charge;
  if (!(characters > 0)) return charges;
  const others = charges.filter((other) => {
    const { least, most } = slopesOf([other, charge]);
    return least <= most && sizeOf(other) !== sizeOf(charge);
  });
  return [...others, charge].toSorted(([a], [b]) => a - b);
}

/** Between which a price of a character lies. */
function slopesOf(charges: readonly Charge[]): { readonly least: number; readonly most: number } {
  // A request costs nothing less than nothing by itself.
  let most = Math.min(...charges.map(([n, c]) => c / n));
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
