import type { Sharp, SharpConstructor } from 'sharp';
import type { PictureSize } from '../picture-size.ts';

export interface Lettering {
  /** Only characters that the font has. */
  readonly text: string;
  /** Absolute path. */
  readonly fontFile: string;
  /** Height of the letters, in pixels. */
  readonly pixels: number;
  /** Where it has to fit in; a line that is wider is broken. */
  readonly within: PictureSize;
}

/** Letters on nothing, as a PNG with transparency. */
export interface DrawnLettering extends PictureSize {
  readonly png: Buffer;
}

/** The family name that the font file has; no font of a system is called so. */
const FAMILY = 'Foley Sans';
const SMALLER = 0.85;
const SMALLEST_PIXELS = 8;

/** Writes text in white, in smaller letters when it would not fit otherwise. */
export async function drawLettering(
  sharp: SharpConstructor,
  lettering: Lettering,
): Promise<DrawnLettering> {
  const { within } = lettering;
  for (let { pixels } = lettering; ; pixels *= SMALLER) {
    const { data: png, info } = await textAt(sharp, lettering, Math.round(pixels))
      .png({ compressionLevel: 1 })
      .toBuffer({ resolveWithObject: true });
    const { width, height } = info;
    const fits = width <= within.width && height <= within.height;
    if (fits || pixels < SMALLEST_PIXELS) return { png, width, height };
  }
}

function textAt(sharp: SharpConstructor, lettering: Lettering, pixels: number): Sharp {
  const { fontFile, text, within } = lettering;
  return sharp({
    text: {
      text: `<span foreground="white">${escapeMarkup(text)}</span>`,
      font: `${FAMILY} ${pixels}`,
      fontfile: fontFile,
      width: within.width,
      rgba: true,
      // A point is a pixel then.
      dpi: 72,
      wrap: 'word-char',
    },
  });
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  "'": '&apos;',
  '"': '&quot;',
};

function escapeMarkup(text: string): string {
  return text.replaceAll(/[&<>'"]/g, (sign) => ENTITIES[sign] ?? '');
}
