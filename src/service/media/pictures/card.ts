import { createHash } from 'node:crypto';
import type { OverlayOptions, Sharp, SharpConstructor } from 'sharp';
import { Type } from 'typebox';
import type { Static, TObject } from 'typebox';
import type { PictureFormat } from '../../../contract/media.ts';
import { PICTURE_FORMATS, SEED_MAX } from '../../../contract/media.ts';
import type { MediaTask } from '../child/messages.ts';
import { requireTaskParameters, deleteOnFailure } from '../child/messages.ts';
import type { PictureSize } from './reference.ts';
import { openReference, openSharp } from './reference.ts';

const Path = Type.String({ minLength: 1, description: 'Absolute' });
const Pixels = Type.Integer({ minimum: 2, maximum: 8_192 });

/** The parameters that are common to image tasks and video tasks. */
export const CARD_FIELDS = {
  prompt: Type.String({ minLength: 1 }),
  seed: Type.Integer({ minimum: 0, maximum: SEED_MAX }),
  width: Pixels,
  height: Pixels,
  references: Type.Array(Path),
  fontFile: Path,
  output: Path,
};

export const ImageParameters = Type.Object({
  ...CARD_FIELDS,
  format: Type.Enum([...PICTURE_FORMATS]),
});
export type ImageParameters = Static<typeof ImageParameters>;

type Card = Static<TObject<typeof CARD_FIELDS>>;

/** Description in the metadata of every image and video; says that no model made the picture. */
export const SANDBOX_DESCRIPTION =
  'Sandbox rendering by the embedded service of foley: a card with the prompt and the references, made by no image or video model';
const SANDBOX_SOFTWARE = 'foley embedded service (sandbox)';

/** Draws an image. Runs in the child process for media. */
export const imageTask: MediaTask = async (given) => {
  const order = requireTaskParameters(ImageParameters, given);
  await deleteOnFailure(order.output, () => drawImage(order));
  return null;
};

/** Draws an image and writes the file. The same parameters give the same bytes. @throws errors of the file system */
export async function drawImage(order: ImageParameters): Promise<void> {
  const card = await drawCard(await openSharp(), order);
  await encoded(card, order.format).toFile(order.output);
}

function encoded(image: Sharp, format: PictureFormat): Sharp {
  switch (format) {
    case 'png':
      return image.withExif(EXIF).png({ compressionLevel: 6 });
    case 'jpeg':
      return image.withExif(EXIF).jpeg({ quality: 90, chromaSubsampling: '4:4:4' });
    case 'webp':
      // Some readers reject the header that sharp writes before Exif in a webp.
      return image.withXmp(XMP).webp({ quality: 90 });
  }
}

const EXIF = { IFD0: { ImageDescription: SANDBOX_DESCRIPTION, Software: SANDBOX_SOFTWARE } };

const XMP = `<?xpacket begin="\u{feff}" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"
xmp:CreatorTool="${SANDBOX_SOFTWARE}"><dc:description><rdf:Alt><rdf:li xml:lang="x-default">
${SANDBOX_DESCRIPTION}</rdf:li></rdf:Alt></dc:description></rdf:Description></rdf:RDF></x:xmpmeta>
<?xpacket end="r"?>`;

// Fraction of the card's height, from the top.
const PANEL_TOP = 0.68;

/**
 * Draws the placeholder picture (card) of an image or video: a pattern that depends on prompt and seed, the reference
 * images, and a panel with title and label.
 */
export async function drawCard(sharp: SharpConstructor, card: Card): Promise<Sharp> {
  const layers = [...(await referenceLayers(sharp, card)), ...(await letterLayers(sharp, card))];
  const drawn = sharp(Buffer.from(cardSvg(card.prompt, card.seed, card))).composite(layers);
  return drawn.removeAlpha();
}

/** Returns an SVG document with the pattern and the empty panel of a placeholder picture. */
export function cardSvg(prompt: string, seed: number, { width, height }: PictureSize): string {
  const random = seededRandom(seedOf(prompt) ^ seed);
  const [first, second] = [Math.floor(random() * 360), Math.floor(random() * 360)];
  const panelTop = Math.round(height * PANEL_TOP);
  const cell = Math.min(width, height) / 8;
  const squares: string[] = [];
  for (let top = 0; top < panelTop; top += cell) {
    for (let left = 0; left < width; left += cell) {
      const opacity = (random() * 0.3).toFixed(2);
      const place = `x="${left.toFixed(1)}" y="${top.toFixed(1)}" width="${cell}" height="${cell}"`;
      squares.push(`<rect ${place} fill="hsl(${second},60%,75%)" fill-opacity="${opacity}"/>`);
    }
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">`,
    `<rect width="${width}" height="${height}" fill="hsl(${first},45%,35%)"/>`,
    ...squares,
    `<rect y="${panelTop}" width="${width}" height="${height - panelTop}" fill="#0b0e1a"/></svg>`,
  ].join('');
}

/** Returns the default seed for a prompt: the first 32 bits of its SHA-256 hash. */
export function seedOf(prompt: string): number {
  return createHash('sha256').update(prompt, 'utf8').digest().readUInt32BE(0);
}

const STEP = 0x6d_2b_79_f5;
const RANGE = 2 ** 32;

// Numbers in [0, 1), the same for the same seed on every machine.
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + STEP) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / RANGE;
  };
}

async function letterLayers(sharp: SharpConstructor, card: Card): Promise<OverlayOptions[]> {
  const { prompt, seed, width, height, fontFile } = card;
  const shorter = Math.min(width, height);
  const margin = Math.round(shorter * 0.05);
  const room = { width: width - 2 * margin, height: margin };
  const label = await drawLettering(sharp, {
    text: `foley sandbox rendering · seed ${seed}`,
    fontFile,
    pixels: Math.max(11, shorter * 0.022),
    within: room,
  });
  const labelTop = height - margin - label.height;
  const layers = [layer(label, margin, labelTop)];
  const { text } = titleOf(prompt);
  if (text === '') return layers;
  const bottom = labelTop - Math.round(margin / 2);
  const within = { ...room, height: Math.max(margin, bottom - height * PANEL_TOP - margin) };
  const title = await drawLettering(sharp, { text, fontFile, pixels: shorter * 0.07, within });
  return [...layers, layer(title, margin, bottom - title.height)];
}

function layer({ png }: { readonly png: Buffer }, left: number, top: number): OverlayOptions {
  return { input: png, left, top: Math.max(0, top) };
}

async function referenceLayers(
  sharp: SharpConstructor,
  { references, width, height }: Card,
): Promise<OverlayOptions[]> {
  const places = referencePlaces(references.length, { width, height });
  const border = Math.max(2, Math.round(Math.min(width, height) * 0.006));
  const layers: OverlayOptions[] = [];
  for (const [index, { left, top, ...size }] of places.entries()) {
    const path = references[index];
    if (path === undefined) continue;
    const inner = { width: size.width - 2 * border, height: size.height - 2 * border };
    // Sequentially: each reference may have fifty million pixels.
    const input = await openReference(sharp, path)
      .resize({ ...inner, fit: 'cover' })
      .flatten({ background: '#ffffff' })
      .toColourspace('srgb')
      .extend({ top: border, bottom: border, left: border, right: border, background: '#ffffff' })
      .png({ compressionLevel: 1 })
      .toBuffer();
    layers.push({ input, left, top });
  }
  return layers;
}

interface CardArea extends PictureSize {
  readonly left: number;
  readonly top: number;
}

// As fractions of the card's width and height.
const AREA = { left: 0.07, top: 0.08, width: 0.86, height: 0.56 } as const;
// As a fraction of the card's shorter side.
const GAP = 0.025;

/**
 * Returns position and size of each reference image in a placeholder picture. If an upright or square picture has three
 * or more images, they are placed in two rows, otherwise in one row.
 */
export function referencePlaces(
  count: number,
  { width, height }: PictureSize,
): readonly CardArea[] {
  const rows = count > 2 && height >= width ? 2 : 1;
  const columns = Math.ceil(count / rows);
  const gap = Math.round(GAP * Math.min(width, height));
  const cell = {
    width: Math.floor((AREA.width * width - gap * (columns - 1)) / columns),
    height: Math.floor((AREA.height * height - gap * (rows - 1)) / rows),
  };
  return Array.from({ length: count }, (_, index) => ({
    ...cell,
    left: Math.round(AREA.left * width) + (index % columns) * (cell.width + gap),
    top: Math.round(AREA.top * height) + Math.floor(index / columns) * (cell.height + gap),
  }));
}

// The characters in `assets/fonts/foley-sans.ttf`.
const IN_FONT =
  /[\u0300-\u0304\u0306-\u030a\u030c\u0323\u0020-\u007e\u00a0-\u00ac\u00ae-\u0148\u014a-\u017f\u01a0\u01a1\u01af\u01b0\u0218-\u021b\u02bb\u02bc\u02c6\u02c7\u02d8-\u02dd\u0384-\u038a\u038c\u038e-\u03a1\u03a3-\u03ce\u0400-\u045f\u0490\u0491\u1e80-\u1e85\u1e9e\u1ea0-\u1ef9\u2010-\u2026\u2030\u2032\u2033\u2039\u203a\u20ac\u2116\u2122\u2190-\u2193\u2212]/u;

/** Returns whether the font has a character. A missing character would be drawn as an empty box. */
export function isInFont(character: string): boolean {
  return IN_FONT.test(character);
}

/** Maximum length of a title in characters; longer prompts are truncated. */
export const TITLE_MAX_CHARACTERS = 120;

/**
 * Returns the prompt as a one-line title; a prompt that is too long is truncated after a word.
 * @returns `text`: the title; `lacking`: number of characters that were omitted because the font lacks them
 */
export function titleOf(prompt: string): { readonly text: string; readonly lacking: number } {
  const characters = Array.from(prompt.normalize('NFC').replaceAll(/\s+/gu, ' ').trim());
  const written = characters.filter((character) => isInFont(character));
  const text = written.join('').replaceAll(/ +/g, ' ').trim();
  const lacking = characters.length - written.length;
  const left = Array.from(text);
  if (left.length <= TITLE_MAX_CHARACTERS) return { text, lacking };
  const kept = left.slice(0, TITLE_MAX_CHARACTERS - 1).join('');
  const lastSpace = kept.lastIndexOf(' ');
  // A very long last word is truncated.
  const end = lastSpace > TITLE_MAX_CHARACTERS / 2 ? lastSpace : kept.length;
  return { text: `${kept.slice(0, end).trimEnd()}…`, lacking };
}

// The name in the font file; no system font has this name.
const FAMILY = 'Foley Sans';
const SMALLER = 0.85;
const SMALLEST_PIXELS = 8;

// `pixels` is the height of the letters; it shrinks until the wrapped text fits `within`.
async function drawLettering(
  sharp: SharpConstructor,
  lettering: { text: string; fontFile: string; pixels: number; within: PictureSize },
) {
  const { fontFile, within } = lettering;
  const text = `<span foreground="white">${escapeMarkup(lettering.text)}</span>`;
  for (let { pixels } = lettering; ; pixels *= SMALLER) {
    const font = `${FAMILY} ${Math.round(pixels)}`;
    // A point is a pixel at 72 dpi.
    const { data: png, info } = await sharp({
      text: {
        text,
        font,
        fontfile: fontFile,
        width: within.width,
        dpi: 72,
        rgba: true,
        wrap: 'word-char',
      },
    })
      .png({ compressionLevel: 1 })
      .toBuffer({ resolveWithObject: true });
    const { width, height } = info;
    const fits = width <= within.width && height <= within.height;
    if (fits || pixels < SMALLEST_PIXELS) return { png, width, height };
  }
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
