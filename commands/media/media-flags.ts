import { Option } from 'commander';
import type { MediaJobKind } from '../../src/api/media-job.ts';
import { FORMATS, formatOfPath } from '../../src/audio/formats.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { makesOf } from '../../src/media/media-source.ts';
import type { CreateWaitFlags } from '../jobs/job-flags.ts';
import { waitOptions } from '../jobs/job-flags.ts';
import type { IdFlags } from '../request-flags.ts';
import { dryRunOption, idOptions } from '../request-flags.ts';

/** The flags of every create of lip sync, dubbing, images and videos (contract, sections 5, 6 and 8). */
export interface MediaCreateFlags extends CreateWaitFlags, IdFlags {}

/** @param what is made, such as `the video` @param keyHelp what the key is good for there */
export function createOptions(what: string, keyHelp: string): Option[] {
  return [
    new Option('--wait', 'wait until the job has ended'),
    new Option('-o, --output <path>', `wait, and write ${what} to a file; - is stdout`),
    new Option('--no-clobber', 'do not replace an existing file (exit code 31)'),
    ...waitOptions(),
    ...idOptions(keyHelp),
    dryRunOption(),
  ];
}

/** What the key of a create is good for that is recognized when it is repeated. */
export const KEY_HELP = 'key under which the same order is not billed again';

/**
 * The end of a file's name tells what is in it: a video is not called .png.
 * @throws Failure (usage)
 */
export function refuseOtherEnding(kind: MediaJobKind, output: string | undefined): void {
  const named = output === undefined ? undefined : formatOfPath(output);
  const made = makesOf(kind);
  if (named === undefined || FORMATS[named].kind === made) return;
  const endings = made === 'image' ? '.png, .jpg or .webp' : '.mp4';
  throw usageFailure(
    `--output ends in a name for ${named}, and \`foley ${kind}\` makes ${made}s`,
    `Let the name end in ${endings}.`,
  );
}

/** A parser for a flag that may be repeated, in order; the same value twice is two. */
export function every(
  read: (given: string) => string,
): (given: string, before: readonly string[] | undefined) => readonly string[] {
  return (given, before) => [...(before ?? []), read(given)];
}
