import path from 'node:path';
import type { MediaJobKind } from '../../src/api/media-job.ts';
import { extensionOf, formatOfPath } from '../../src/audio/formats.ts';
import type { Format } from '../../src/audio/formats.ts';
import type { Context } from '../../src/cli/context.ts';
import type { OpenPlace } from '../jobs/places.ts';
import { namedPlace } from '../jobs/places.ts';
import { makesOf } from '../../src/media/media-source.ts';

/** A place, and where the person is told to have it instead when what came is something else. */
export interface MediaPlace extends OpenPlace {
  /** The name to go on with. */
  readonly nextName: () => string;
}

/**
 * The place of what a job of a kind makes. What it is shows when it comes: a name that ends otherwise is
 * refused then, and the job goes on to be there under a better one.
 * @throws Failure (usage, output, exists)
 */
export async function mediaPlace(
  context: Context,
  kind: MediaJobKind,
  { clobber = true, output }: { readonly clobber?: boolean; readonly output: string },
): Promise<MediaPlace> {
  const holds = makesOf(kind) === 'image' ? 'an image' : 'a video';
  const existing = clobber ? 'replace' : 'refuse';
  const place = await namedPlace(context, output, { holds, existing });
  let nextName = output;
  return {
    ...place,
    nextName: () => nextName,
    async placeFor(ref, format) {
      if (output !== '-') nextName = fitting(output, format);
      return place.placeFor(ref, format);
    },
  };
}

function fitting(name: string, format: Format): string {
  const named = formatOfPath(name);
  if (named === undefined || named === format) return name;
  const { dir, name: stem } = path.parse(name);
  return path.join(dir, `${stem}.${extensionOf(format)}`);
}
