import { Option } from 'commander';
import type { MediaVariant } from '../../src/api/media-models.ts';
import { listMediaModels } from '../../src/api/media-models.ts';
import type { MediaOrder } from '../../src/api/media-jobs.ts';
import type { Connection, Context } from '../../src/cli/context.ts';
import { IMAGE_REFERENCES_MAX } from '../../src/contract/limits.ts';
import type { MediaType } from '../../src/contract/schemas/media-models.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { counted } from '../../src/text/counted.ts';
import { filled, numberWithin } from '../speech-flags.ts';
import type { MediaCreateFlags } from './media-flags.ts';
import { every } from './media-flags.ts';

/** The flags that creates of images and of videos share. */
export interface PictureFlags extends MediaCreateFlags {
  readonly model: string;
  readonly image?: readonly string[];
  readonly maxCredits?: number;
  readonly aspectRatio?: string;
  readonly resolution?: string;
  readonly size?: string;
  readonly seconds?: number;
}

export function pictureOptions(mediaType: MediaType): Option[] {
  return [
    new Option('-m, --model <id>', `model id, from \`foley ${mediaType} models\``)
      .argParser(filled('--model'))
      .makeOptionMandatory(),
    new Option(
      '--image <url-or-file>',
      `a picture to go by (may be repeated, up to ${IMAGE_REFERENCES_MAX})`,
    ).argParser(every(filled('--image'))),
    new Option('--max-credits <n>', 'refuse when the model asks for more').argParser(
      numberWithin('--max-credits', { minimum: 0 }),
    ),
  ];
}

/** What is to be seen. Throws a Failure (usage) for nothing. */
export function readPrompt(given: string): string {
  return filled('PROMPT')(given);
}

/**
 * The pictures to go by, each with its flag.
 * @throws Failure (usage) above the limit of the spec's section 8
 */
export function givenReferences({
  image = [],
}: PictureFlags): readonly (readonly [string, string])[] {
  if (image.length > IMAGE_REFERENCES_MAX) {
    throw usageFailure(
      `--image is given ${image.length} times; at most ${IMAGE_REFERENCES_MAX} pictures are taken`,
      'Leave some out.',
    );
  }
  return image.map((given) => [given, '--image'] as const);
}

/** One is `image_url`, more are `image_urls` (spec section 4.8). */
export function referenceFields(urls: readonly string[]): MediaOrder {
  const [only] = urls;
  if (only === undefined) return {};
  return urls.length === 1 ? { image_url: only } : { image_urls: urls };
}

/**
 * Refuses what the catalogue quotes above `--max-credits`; without that nothing is asked.
 * @throws Failure (usage), also when the catalogue has no quote for it
 */
export async function refuseDear(
  { signal }: Context,
  mediaType: MediaType,
  flags: PictureFlags,
  { client }: Connection,
): Promise<void> {
  const { maxCredits, model } = flags;
  if (maxCredits === undefined) return;
  const { value } = await listMediaModels(client, mediaType, signal);
  const variants = value.find(({ id }) => id === model)?.variants ?? [];
  const fitting = variants.filter((variant) => fits(variant, flags));
  // What is left open the service chooses: it may be the dearest.
  const quotes = fitting.map(({ credits }) => credits).filter((credits) => credits !== undefined);
  if (quotes.length === 0) {
    throw usageFailure(
      `--max-credits is ${maxCredits}, and the catalogue has no quote for this with ${model}`,
      `\`foley ${mediaType} models\` shows what there is; leave --max-credits out to order it all the same.`,
    );
  }
  const most = Math.max(...quotes);
  if (most <= maxCredits) return;
  throw usageFailure(
    `this may cost ${counted(most, 'credit')}, and --max-credits is ${maxCredits}`,
    `\`foley ${mediaType} models\` shows what is cheaper.`,
  );
}

/** Of an image, where none is asked for (spec section 4.8). */
const DEFAULT_RESOLUTION = '1k';

function fits(variant: MediaVariant, flags: PictureFlags): boolean {
  return (['aspectRatio', 'resolution', 'seconds', 'size'] as const).every((name) => {
    const wanted = flags[name] ?? (name === 'resolution' ? DEFAULT_RESOLUTION : undefined);
    return wanted === undefined || variant[name] === undefined || variant[name] === wanted;
  });
}
