import { Type } from 'typebox';
import type { Static } from 'typebox';
import { PICTURE_FORMATS, SEED_MAX } from '../../../contract/media.ts';

/** What the media child is sent: plain data, checked there again. */

const Path = Type.String({ minLength: 1, description: 'Absolute' });
const Pixels = Type.Integer({ minimum: 2, maximum: 8_192 });
const Drawing = {
  prompt: Type.String({ minLength: 1 }),
  seed: Type.Integer({ minimum: 0, maximum: SEED_MAX }),
  width: Pixels,
  height: Pixels,
  /** Files that were inspected before. */
  references: Type.Array(Path),
  fontFile: Path,
  output: Path,
};

/** An image to be drawn into `output`. */
export const ImageOrder = Type.Object({ ...Drawing, format: Type.Enum([...PICTURE_FORMATS]) });
export type ImageOrder = Static<typeof ImageOrder>;

/** A video to be made into `output`. */
export const VideoOrder = Type.Object({
  ...Drawing,
  seconds: Type.Integer({ minimum: 1, maximum: 60 }),
  /** The bundled thread that encodes. */
  encoderFile: Path,
});
export type VideoOrder = Static<typeof VideoOrder>;

/** A file to be looked at. */
export const ReferenceOrder = Type.Object({ path: Path });
export type ReferenceOrder = Static<typeof ReferenceOrder>;
