import type { Sharp, SharpConstructor } from 'sharp';

/** Width and height in pixels. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** Every character of `assets/fonts/foley-sans.ttf`: combining marks, Latin, Greek, Cyrillic, punctuation, signs. */
const IN_FONT =
  /[\u0300-\u0304\u0306-\u030a\u030c\u0323\u0020-\u007e\u00a0-\u00ac\u00ae-\u0148\u014a-\u017f\u01a0\u01a1\u01af\u01b0\u0218-\u021b\u02bb\u02bc\u02c6\u02c7\u02d8-\u02dd\u0384-\u038a\u038c\u038e-\u03a1\u03a3-\u03ce\u0400-\u045f\u0490\u0491\u1e80-\u1e85\u1e9e\u1ea0-\u1ef9\u2010-\u2026\u2030\u2032\u2033\u2039\u203a\u20ac\u2116\u2122\u2190-\u2193\u2212]/u;

/** Returns whether the font has this character; without it a box would be drawn. */
export function isInFont(character: string): boolean {
  return IN_FONT.test(character);
}

export interface Title {
  /** The prompt without the missing characters; may be empty. */
  readonly text: string;
  /** Number of characters in the prompt that the font lacks; white space is not counted. */
  readonly lacking: number;
}

/** A longer title is cut. */
export const TITLE_MAX_CHARACTERS = 120;

/** Returns the prompt as a title: one line, cut at a word, without the characters that the font lacks. */
export function titleOf(prompt: string): Title {
  const characters = Array.from(prompt.normalize('NFC').replaceAll(/\s+/gu, ' ').trim());
  const written = characters.filter((character) => isInFont(character));
  return {
    text: cut(written.join('').replaceAll(/ +/g, ' ').trim()),
    lacking: characters.length - written.length,
  };
}

function cut(text: string): string {
  const characters = Array.from(text);
  if (characters.length <= TITLE_MAX_CHARACTERS) return text;
  const kept = characters.slice(0, TITLE_MAX_CHARACTERS - 1).join('');
  const lastSpace = kept.lastIndexOf(' ');
  // A word that is longer than half the title is cut itself.
  const end = lastSpace > TITLE_MAX_CHARACTERS / 2 ? lastSpace : kept.length;
  return `${kept.slice(0, end).trimEnd()}…`;
}

export interface Lettering {
  /** Only characters that the font has. */
  readonly text: string;
  /** Absolute path. */
  readonly fontFile: string;
  /** Height of the letters in pixels. */
  readonly pixels: number;
  /** Longer lines are broken. */
  readonly within: PictureSize;
}

/** White letters on a transparent PNG. */
export interface DrawnLettering extends PictureSize {
  readonly png: Buffer;
}

/** The family name in the font file; no system font has this name. */
const FAMILY = 'Foley Sans';
const SMALLER = 0.85;
const SMALLEST_PIXELS = 8;

/** Draws white text, in smaller letters when it would not fit. */
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
      // A point is a pixel at 72 dpi.
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
