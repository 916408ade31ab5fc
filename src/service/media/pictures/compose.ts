import type { OverlayOptions, Sharp, SharpConstructor } from 'sharp';
import { drawLettering } from './lettering/draw-lettering.ts';
import { titleOf } from './lettering/title.ts';
import { openReference } from './open-reference.ts';
import type { PictureSize } from './picture-size.ts';
import { referencePlaces } from './reference-places.ts';
import { SANDBOX_LINE } from './sandbox-tag.ts';
import { sceneSvg } from './scene/scene-svg.ts';

export interface Drawing extends PictureSize {
  readonly prompt: string;
  readonly seed: number;
  /** Files that were inspected before, in their order. */
  readonly references: readonly string[];
  readonly fontFile: string;
}

/** The scene of a drawing with its references, without letters. Sends nothing through the network. */
export async function composeScene(sharp: SharpConstructor, drawing: Drawing): Promise<Sharp> {
  const svg = Buffer.from(sceneSvg(drawing));
  return sharp(svg)
    .composite(await frames(sharp, drawing))
    .removeAlpha();
}

/** Its letters: the title on a band, and what it is. Each is drawn alone, so that it can stay while the scene moves. */
export async function composeLettering(
  sharp: SharpConstructor,
  drawing: Drawing,
): Promise<OverlayOptions[]> {
  const { prompt, width, height, fontFile } = drawing;
  const shorter = Math.min(width, height);
  const margin = Math.round(shorter * 0.05);
  const line = await drawLettering(sharp, {
    text: SANDBOX_LINE,
    fontFile,
    colour: '#ffffff',
    pixels: Math.max(11, shorter * 0.022),
    within: { width: width - 2 * margin, height: margin },
    align: 'left',
  });
  const { text } = titleOf(prompt);
  const within = { width: width - 2 * margin, height: Math.round(height * 0.28) };
  const title =
    text === ''
      ? undefined
      : await drawLettering(sharp, {
          text,
          fontFile,
          colour: '#ffffff',
          pixels: titlePixels(text, within, shorter),
          within,
          align: 'left',
        });
  const gap = Math.round(margin * 0.5);
  const lettersHigh = line.height + (title === undefined ? 0 : title.height + gap);
  const top = height - margin - lettersHigh;
  const bandTop = Math.max(0, top - margin);
  return [
    { input: band({ width, height: height - bandTop }), left: 0, top: bandTop },
    ...(title === undefined ? [] : [{ input: title.png, left: margin, top }]),
    { input: line.png, left: margin, top: height - margin - line.height },
  ];
}

/** Letters that fill about the room that a title has, within what is pleasant. */
function titlePixels(text: string, room: PictureSize, shorter: number): number {
  const filling = Math.sqrt((room.width * room.height) / (Array.from(text).length * 0.75));
  return Math.min(shorter * 0.07, Math.max(shorter * 0.03, filling));
}

/** A veil that makes white letters legible on anything. */
function band({ width, height }: PictureSize): Buffer {
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">` +
      '<defs><linearGradient id="veil" x1="0" y1="0" x2="0" y2="1">' +
      '<stop offset="0" stop-color="#05070f" stop-opacity="0"/>' +
      '<stop offset="0.25" stop-color="#05070f" stop-opacity="0.72"/>' +
      '<stop offset="1" stop-color="#05070f" stop-opacity="0.86"/></linearGradient></defs>' +
      `<rect width="${width}" height="${height}" fill="url(#veil)"/></svg>`,
  );
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
