import { Option } from 'commander';
import type { MediaRequest } from '../../../src/api/resources/media.ts';
import type { MediaVariant, MediaJobKind } from '../../../src/api/resources/models.ts';
import { listMediaModels } from '../../../src/api/resources/models.ts';
import { FORMATS, formatOfPath } from '../../../src/audio/formats.ts';
import { IMAGE_REFERENCES_MAX } from '../../../src/contract/limits.ts';
import type { MediaType } from '../../../src/contract/media.ts';
import { usageFailure } from '../../../src/errors/failure.ts';
import { resultKindOf } from '../../../src/media/media-source.ts';
import { counted } from '../../../src/text/display.ts';
import type { Context, ServiceConnection } from '../../../src/cli/command.ts';
import type { CreateWaitFlags } from './jobs.ts';
import { waitOptions } from './jobs.ts';
import type { DryRunFlag, IdFlags } from './speech.ts';
import { dryRunOption, idOptions } from './speech.ts';
import { filled, listOption, numberOption, textOption } from '../../../src/cli/flags/values.ts';

export interface MediaCreateFlags extends CreateWaitFlags, IdFlags, DryRunFlag {}

/**
 * Creates the flags of the commands that create media jobs.
 * @param what noun for the result in the help, such as `the video`
 * @param keyHelp replaces the usual help of `--idempotency-key`
 */
export function createOptions(what: string, keyHelp?: string): Option[] {
  return [
    new Option('--wait', 'wait until the job has finished'),
    new Option('-o, --output <path>', `wait, and write ${what} to a file; - is stdout`),
    new Option('--no-clobber', 'do not replace an existing file (exit code 31)'),
    ...waitOptions(),
    ...idOptions(keyHelp),
    dryRunOption(),
  ];
}

/**
 * Refuses an output name whose extension does not match the job kind, such as .png for a video.
 * @throws Failure of kind `usage`
 */
export function refuseOtherEnding(kind: MediaJobKind, output: string | undefined): void {
  const extensionFormat = output === undefined ? undefined : formatOfPath(output);
  const resultKind = resultKindOf(kind);
  if (extensionFormat === undefined || FORMATS[extensionFormat].kind === resultKind) return;
  const endings = resultKind === 'image' ? '.png, .jpg or .webp' : '.mp4';
  throw usageFailure(
    `--output has the extension of ${extensionFormat}, but foley ${kind} creates ${resultKind}s`,
    `Use the extension ${endings}.`,
  );
}

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
    textOption(
      '-m, --model <id>',
      `model id, from \`foley ${mediaType} models\` (required)`,
    ).makeOptionMandatory(),
    listOption(
      '--image <url-or-file>',
      `reference image, at most ${IMAGE_REFERENCES_MAX}`,
      filled('--image'),
    ),
    numberOption('--max-credits <n>', 'refuse when the quoted price is higher', { minimum: 0 }),
  ];
}

/**
 * Returns the values of `--image`, each in a pair with the flag name.
 * @throws Failure of kind `usage` for more images than docs/api/media.md allows
 */
export function givenReferences({
  image = [],
}: PictureFlags): readonly (readonly [string, string])[] {
  if (image.length > IMAGE_REFERENCES_MAX) {
    throw usageFailure(
      `--image is given ${image.length} times; at most ${IMAGE_REFERENCES_MAX} images are allowed`,
      'Leave some out.',
    );
  }
  return image.map((given) => [given, '--image'] as const);
}

/** Returns the field for reference images: `image_url` for one image, `image_urls` for several (docs/api/media.md). */
export function referenceFields(urls: readonly string[]): MediaRequest {
  const [only] = urls;
  if (only === undefined) return {};
  return urls.length === 1 ? { image_url: only } : { image_urls: urls };
}

/**
 * Refuses a request that may cost more than `--max-credits`, or has no price in the model catalogue. Without
 * `--max-credits`, does nothing.
 * @throws Failure of kind `usage`
 */
export async function refuseOverBudget(
  { signal }: Context,
  mediaType: MediaType,
  flags: PictureFlags,
  { client }: ServiceConnection,
): Promise<void> {
  const { maxCredits, model } = flags;
  if (maxCredits === undefined) return;
  const { value } = await listMediaModels(client, mediaType, signal);
  const variants = value.find(({ id }) => id === model)?.variants ?? [];
  const fitting = variants.filter((variant) => fits(variant, flags));
  // The service chooses what the flags leave open: compare the highest price.
  const quotes = fitting.map(({ credits }) => credits).filter((credits) => credits !== undefined);
  if (quotes.length === 0) {
    throw usageFailure(
      `--max-credits is ${maxCredits}, but the service lists no price of ${model} with these options`,
      `\`foley ${mediaType} models\` lists prices; leave --max-credits out to create it anyway.`,
    );
  }
  const most = Math.max(...quotes);
  if (most <= maxCredits) return;
  throw usageFailure(
    `this command may cost ${counted(most, 'credit')}, but --max-credits is ${maxCredits}`,
    `\`foley ${mediaType} models\` lists cheaper variants.`,
  );
}

const DEFAULT_RESOLUTION = '1k';

function fits(variant: MediaVariant, flags: PictureFlags): boolean {
  return (['aspectRatio', 'resolution', 'seconds', 'size'] as const).every((name) => {
    const wanted = flags[name] ?? (name === 'resolution' ? DEFAULT_RESOLUTION : undefined);
    return wanted === undefined || variant[name] === undefined || variant[name] === wanted;
  });
}
