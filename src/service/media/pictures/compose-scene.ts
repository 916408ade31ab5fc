import type { OverlayOptions, Sharp, SharpConstructor } from 'sharp';
import { openReference } from './open-reference.ts';
import type { PictureSize } from './picture-size.ts';
import { referencePlaces } from './reference-places.ts';
import { sceneSvg } from './scene/scene-svg.ts';

export interface Drawing extends PictureSize {
  readonly prompt: string;
  readonly seed: number;
  /** Files that were inspected before, in their order. */
  readonly references: readonly string[];
  readonly fontFile: string;
}

/** The scene of a drawing with its references, without letters. */
export async function composeScene(sharp: SharpConstructor, drawing: Drawing): Promise<Sharp> {
  const svg = Buffer.from(sceneSvg(drawing));
  return sharp(svg)
    .composite(await frames(sharp, drawing))
    .removeAlpha();
}

/** References as framed pictures, whole or cut to their place. */
async function frames(
  sharp: SharpConstructor,
  { references, width, height }: Drawing,
): Promise<OverlayOptions[]> {
  const places = referencePlaces(references.length, { width, height });
  const border = Math.max(2, Math.round(Math.min(width, height) * 0.006));
  const overlays: OverlayOptions[] = [];
  for (const [index, place] of places.entries()) {
    const path = references[index];
    if (path === undefined) continue;
    const inner = { width: place.width - 2 * border, height: place.height - 2 * border };
    // One after the other: each may have fifty million pixels.
    const input = await openReference(sharp, path)
      .resize({ ...inner, fit: 'cover' })
      .flatten({ background: '#ffffff' })
      .toColourspace('srgb')
      .extend({ top: border, bottom: border, left: border, right: border, background: '#ffffff' })
      .png({ compressionLevel: 1 })
      .toBuffer();
    overlays.push({ input, left: place.left, top: place.top });
  }
  return overlays;
}
