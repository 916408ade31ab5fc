import path from 'node:path';
import { isObject, readJsonFile } from '../config/json-file.ts';
import { usageFailure } from '../errors/failure.ts';
import type { FileDeps } from '../files/file-deps.ts';
import { ensurePrivateFolder } from '../files/own-files.ts';
import { replaceFile } from '../files/replace-file.ts';
import { counted } from '../text/counted.ts';

/** Whose price it is: the service and account, and the model or the voice whose default is used. */
export interface RateKey {
  readonly service: string;
  readonly model: string;
}

/** The highest credits per character that were ever charged, by service, account and model. */
export interface CreditRates {
  highest(key: RateKey): Promise<number | undefined>;
  /** Remembers what was charged, when it is more than was known. */
  remember(key: RateKey, creditsPerCharacter: number): Promise<void>;
}

export function createCreditRates(file: string, deps: FileDeps): CreditRates {
  const read = async (): Promise<Readonly<Record<string, unknown>>> =>
    (await readJsonFile(deps.files, file, 'refuse')) ?? {};
  return {
    async highest({ model, service }) {
      const models = (await read())[service];
      const rate = isObject(models) ? models[model] : undefined;
      return typeof rate === 'number' ? rate : undefined;
    },
    async remember({ model, service }, creditsPerCharacter) {
      const known = await read();
      const models = known[service];
      const before = isObject(models) ? models[model] : undefined;
      if (typeof before === 'number' && before >= creditsPerCharacter) return;
      const next = {
        ...known,
        [service]: { ...(isObject(models) ? models : {}), [model]: creditsPerCharacter },
      };
      await ensurePrivateFolder(path.dirname(file), deps.files);
      await replaceFile({ ...deps, path: file, data: Buffer.from(`${JSON.stringify(next)}\n`) });
    },
  };
}

/**
 * Refuses work that may cost more than the person allows: characters × the highest credits per
 * character seen (contract, section 5, `--max-credits`).
 * @throws Failure (usage); nothing was sent
 */
export async function checkCredits(
  characters: number,
  { maximum, given }: { readonly maximum: number; readonly given: number | undefined },
  seen: () => Promise<number | undefined>,
): Promise<void> {
  const rate = given ?? (await seen());
  if (rate === undefined) {
    throw usageFailure(
      '--max-credits needs the price of a character, and none was seen yet for this model',
      'Give it with --credit-rate N (credits per character), or speak something short first.',
    );
  }
  const estimate = Math.ceil(characters * rate);
  if (estimate <= maximum) return;
  throw usageFailure(
    `--max-credits is ${maximum}, and this may cost ${estimate} (${counted(characters, 'character')} at ${rate.toFixed(3)} credits)`,
    'Raise --max-credits, or shorten the text. Nothing was sent.',
  );
}
