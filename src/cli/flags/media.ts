import { Option } from 'commander';
import type { MediaOrder } from '../../api/resources/media.ts';
import type { MediaVariant, MediaJobKind } from '../../api/resources/models.ts';
import { listMediaModels } from '../../api/resources/models.ts';
import { FORMATS, formatOfPath } from '../../audio/formats.ts';
import { IMAGE_REFERENCES_MAX } from '../../contract/limits.ts';
import type { MediaType } from '../../contract/media.ts';
import { usageFailure } from '../../errors/failure.ts';
import { makesOf } from '../../media/media-source.ts';
import { counted } from '../../text/display.ts';
import type { Context, Connection } from '../command.ts';
import type { CreateWaitFlags } from './jobs.ts';
import { waitOptions } from './jobs.ts';
import type { IdFlags } from './speech.ts';
import { dryRunOption, idOptions, filled, numberWithin } from './speech.ts';

/** The flags of every create of lip sync, dubbing, images and videos. */
export interface MediaCreateFlags extends CreateWaitFlags, IdFlags {}

/** @param what is made, such as `the video` @param keyHelp what the key is good for there */
export function createOptions(what: string, keyHelp: string): Option[] {
  return [
    new Option('--wait', 'wait until the job has finished'),
    new Option('-o, --output <path>', `wait, and write ${what} to a file; - is stdout`),
    new Option('--no-clobber', 'do not replace an existing file (exit code 31)'),
    ...waitOptions(),
    ...idOptions(keyHelp),
    dryRunOption(),
  ];
}

/** What the key of a create is good for that is recognized when it is repeated. */
export const KEY_HELP = 'key that makes a repeated request free';

/**
 * Refuses an extension that does not fit the kind, such as .png for a video.
 * @throws Failure (usage)
 */
export function refuseOtherEnding(kind: MediaJobKind, output: string | undefined): void {
  const named = output === undefined ? undefined : formatOfPath(output);
  const made = makesOf(kind);
  if (named === undefined || FORMATS[named].kind === made) return;
  const endings = made === 'image' ? '.png, .jpg or .webp' : '.mp4';
  throw usageFailure(
    `--output has the extension of ${named}, but \`foley ${kind}\` creates ${made}s`,
    `Use the extension ${endings}.`,
  );
}

/** A parser for a flag that may be repeated, in order; the same value twice is two. */
function every(
  read: (given: string) => string,
): (given: string, before: readonly string[] | undefined) => readonly string[] {
  return (given, before) => [...(before ?? []), read(given)];
}

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
      `reference image (may be repeated, up to ${IMAGE_REFERENCES_MAX})`,
    ).argParser(every(filled('--image'))),
    new Option('--max-credits <n>', 'refuse when the quoted price is higher').argParser(
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
      `--image is given ${image.length} times; at most ${IMAGE_REFERENCES_MAX} images are allowed`,
      'Leave some out.',
    );
  }
  return image.map((given) => [given, '--image'] as const);
}

/** One is `image_url`, more are `image_urls` (docs/api/media.md). */
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
      `--max-credits is ${maxCredits}, but the catalogue has no price for this with ${model}`,
      `\`foley ${mediaType} models\` lists prices; leave --max-credits out to create it anyway.`,
    );
  }
  const most = Math.max(...quotes);
  if (most <= maxCredits) return;
  throw usageFailure(
    `this may cost ${counted(most, 'credit')}, but --max-credits is ${maxCredits}`,
    `\`foley ${mediaType} models\` lists cheaper variants.`,
  );
}

/** Of an image, where none is asked for (docs/api/media.md). */
const DEFAULT_RESOLUTION = '1k';

function fits(variant: MediaVariant, flags: PictureFlags): boolean {
  return (['aspectRatio', 'resolution', 'seconds', 'size'] as const).every((name) => {
    const wanted = flags[name] ?? (name === 'resolution' ? DEFAULT_RESOLUTION : undefined);
    return wanted === undefined || variant[name] === undefined || variant[name] === wanted;
  });
}
