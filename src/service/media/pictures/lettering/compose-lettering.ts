import type { OverlayOptions, SharpConstructor } from 'sharp';
import type { Drawing } from '../compose-scene.ts';
import type { PictureSize } from '../picture-size.ts';
import { SANDBOX_LINE } from '../sandbox-tag.ts';
import type { DrawnLettering } from './draw-lettering.ts';
import { drawLettering } from './draw-lettering.ts';
import { titleOf } from './title.ts';

/** How much of the height the title may take. */
const TITLE_HEIGHT = 0.28;

/**
 * What is written on a drawing, as layers from below: a veil down to the bottom, the title, and a line that
 * says what it is. Apart from the scene, so that they can stay while that moves.
 */
export async function composeLettering(
  sharp: SharpConstructor,
  { prompt, width, height, fontFile }: Drawing,
): Promise<OverlayOptions[]> {
  const shorter = Math.min(width, height);
  const margin = Math.round(shorter * 0.05);
  const room = { width: width - 2 * margin, height: Math.round(height * TITLE_HEIGHT) };
  const line = await drawLettering(sharp, {
    text: SANDBOX_LINE,
    fontFile,
    pixels: Math.max(11, shorter * 0.022),
    within: { width: room.width, height: margin },
  });
  const { text } = titleOf(prompt);
  const pixels = titlePixels(text, room, shorter);
  const title =
    text === '' ? [] : [await drawLettering(sharp, { text, fontFile, pixels, within: room })];
  return stack([...title, line], { width, height }, margin);
}

/** One above the other at the bottom, on a veil. */
function stack(
  letterings: readonly DrawnLettering[],
  { width, height }: PictureSize,
  margin: number,
): OverlayOptions[] {
  const layers: OverlayOptions[] = [];
  let bottom = height - margin;
  for (const lettering of letterings.toReversed()) {
    const top = bottom - lettering.height;
    layers.unshift({ input: lettering.png, left: margin, top });
    bottom = top - Math.round(margin / 2);
  }
  const veilTop = Math.max(0, bottom - margin);
  return [{ input: veil({ width, height: height - veilTop }), left: 0, top: veilTop }, ...layers];
}

/** Letters that fill about the room that a title has, within what is pleasant. */
function titlePixels(text: string, room: PictureSize, shorter: number): number {
  const characters = Math.max(1, Array.from(text).length);
  const filling = Math.sqrt((room.width * room.height) / (characters * 0.75));
  return Math.min(shorter * 0.07, Math.max(shorter * 0.03, filling));
}

/** Makes white letters legible on anything. */
function veil({ width, height }: PictureSize): Buffer {
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">` +
      '<defs><linearGradient id="veil" x1="0" y1="0" x2="0" y2="1">' +
      '<stop offset="0" stop-color="#05070f" stop-opacity="0"/>' +
      '<stop offset="0.25" stop-color="#05070f" stop-opacity="0.72"/>' +
      '<stop offset="1" stop-color="#05070f" stop-opacity="0.86"/></linearGradient></defs>' +
      `<rect width="${width}" height="${height}" fill="url(#veil)"/></svg>`,
  );
}
