const MOST_COLUMNS = 72;
const MOST_ROWS = 36;
const ASSUMED_COLUMN_PIXELS = 10;

/**
 * Renders an image as text for a terminal. Returns undefined if `sharp` is missing or cannot read the image.
 * @param picture the content of an image file
 */
export async function drawPreview(
  picture: Uint8Array,
  protocol: PreviewProtocol,
  { columns }: { readonly columns: number },
): Promise<string | undefined> {
  try {
    const { default: sharp } = await import('sharp');
    const wide = Math.min(MOST_COLUMNS, columns);
    const isDrawn = protocol !== 'blocks';
    const width = isDrawn ? wide * ASSUMED_COLUMN_PIXELS : wide;
    const height = isDrawn ? MOST_ROWS * ASSUMED_COLUMN_PIXELS * 2 : MOST_ROWS * 2;
    const small = sharp(picture).resize({
      width,
      height,
      fit: 'inside',
      withoutEnlargement: isDrawn,
    });
    if (protocol === 'kitty' || protocol === 'iterm2') {
      const { data, info } = await small.png().toBuffer({ resolveWithObject: true });
      const taken = Math.max(1, Math.round(info.width / ASSUMED_COLUMN_PIXELS));
      return protocol === 'kitty' ? kittyImage(data, taken) : itermImage(data, taken);
    }
    const flat = small.removeAlpha().toColorspace('srgb').raw();
    const { data, info } = await flat.toBuffer({ resolveWithObject: true });
    const pixels: Pixels = { width: info.width, height: info.height, rgb: new Uint8Array(data) };
    return protocol === 'sixel' ? sixel(pixels) : halfBlocks(pixels);
  } catch {
    return undefined;
  }
}

/** The protocol by which a terminal shows images. `blocks` draws them with colored block characters. */
export type PreviewProtocol = 'kitty' | 'iterm2' | 'sixel' | 'blocks';

type TerminalEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Detects from the environment by which protocol the terminal shows images. Returns undefined if the terminal cannot
 * show images. tmux and screen do not forward images, so `blocks` is the only protocol for them.
 * @param mayColor whether colors are on; `blocks` requires colors
 */
export function previewProtocol(
  env: TerminalEnvironment,
  mayColor: boolean,
): PreviewProtocol | undefined {
  const term = env['TERM'] ?? '';
  const program = env['TERM_PROGRAM'] ?? '';
  if (term === 'dumb') return undefined;
  const isWithin = env['TMUX'] !== undefined || /^(screen|tmux)/.test(term);
  if (!isWithin) {
    if (isKitty(env, term, program)) return 'kitty';
    if (/^(iTerm\.app|WezTerm|mintty)$/.test(program) || env['LC_TERMINAL'] === 'iTerm2') {
      return 'iterm2';
    }
    if (/^(foot|mlterm|yaft|contour)|sixel/.test(term)) return 'sixel';
  }
  return mayColor ? 'blocks' : undefined;
}

function isKitty(env: TerminalEnvironment, term: string, program: string): boolean {
  return env['KITTY_WINDOW_ID'] !== undefined || term === 'xterm-kitty' || program === 'ghostty';
}

const KITTY_MAX_CHARACTERS = 4_096;

/** Returns the escape sequences with which the terminal kitty shows a PNG, `columns` wide. */
export function kittyImage(png: Uint8Array, columns: number): string {
  const data = Buffer.from(png).toString('base64');
  const chunks = data.match(new RegExp(`.{1,${KITTY_MAX_CHARACTERS}}`, 'g')) ?? [];
  const parts = chunks.map((chunk, index) => {
    const about = index === 0 ? `a=T,f=100,q=2,c=${columns},` : '';
    return `\u001b_G${about}m=${index < chunks.length - 1 ? 1 : 0};${chunk}\u001b\\`;
  });
  return `${parts.join('')}\n`;
}

/** Returns the escape sequence with which iTerm2 and compatible terminals show an image, `columns` wide. */
export function itermImage(picture: Uint8Array, columns: number): string {
  const about = `inline=1;size=${picture.length};width=${columns};preserveAspectRatio=1`;
  return `\u001b]1337;File=${about}:${Buffer.from(picture).toString('base64')}\u0007\n`;
}

/** Renders an image of even height as text in 24-bit colors. Each character is a half block, which shows two pixels. */
export function halfBlocks({ height, rgb, width }: Pixels): string {
  const color = (x: number, y: number): string => {
    const at = (y * width + x) * 3;
    return `${rgb[at] ?? 0};${rgb[at + 1] ?? 0};${rgb[at + 2] ?? 0}`;
  };
  const lines = Array.from({ length: Math.floor(height / 2) }, (_, row) => {
    const cells = Array.from(
      { length: width },
      (__, x) => `\u001b[38;2;${color(x, row * 2)};48;2;${color(x, row * 2 + 1)}m\u2580`,
    );
    return `${cells.join('')}\u001b[0m\n`;
  });
  return lines.join('');
}

// For each of red, green and blue: every sixel terminal supports the resulting 216 colors.
const LEVELS = 6;
const BAND_ROWS = 6;
const FULL = 100;
const FIRST_CHARACTER = 0x3f;

/**
 * Encodes an image as sixel graphics. The image is split into bands of six rows, and each band is written color by
 * color.
 */
export function sixel({ height, rgb, width }: Pixels): string {
  const colors = Uint8Array.from({ length: width * height }, (_, pixel) => colorOf(rgb, pixel * 3));
  const bands: string[] = [];
  for (let top = 0; top < height; top += BAND_ROWS) {
    bands.push(bandOf(colors.subarray(top * width, (top + BAND_ROWS) * width), width));
  }
  return `\u001bPq"1;1;${width};${height}${palette()}${bands.join('-')}\u001b\\\n`;
}

function colorOf(rgb: Uint8Array, at: number): number {
  const step = (channel: number): number =>
    Math.round(((rgb[at + channel] ?? 0) / 255) * (LEVELS - 1));
  return (step(0) * LEVELS + step(1)) * LEVELS + step(2);
}

function palette(): string {
  const share = (step: number): number => Math.round((step / (LEVELS - 1)) * FULL);
  return Array.from({ length: LEVELS ** 3 }, (_, color) => {
    const red = Math.floor(color / LEVELS ** 2);
    const green = Math.floor(color / LEVELS) % LEVELS;
    return `#${color};2;${share(red)};${share(green)};${share(color % LEVELS)}`;
  }).join('');
}

function bandOf(colors: Uint8Array, width: number): string {
  const columns = new Map<number, Uint8Array>();
  for (const [pixel, color] of colors.entries()) {
    const bits = columns.get(color) ?? new Uint8Array(width);
    const x = pixel % width;
    bits[x] = (bits[x] ?? 0) | (1 << Math.floor(pixel / width));
    columns.set(color, bits);
  }
  return Array.from(columns, ([color, bits]) => `#${color}${inRuns(bits)}`).join('$');
}

function inRuns(bits: Uint8Array): string {
  const text = Array.from(bits, (value) => String.fromCharCode(FIRST_CHARACTER + value)).join('');
  return text.replaceAll(/(.)\1{3,}/g, (run, character) => `!${run.length}${String(character)}`);
}

/** An image without alpha: three bytes per pixel, row by row. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly rgb: Uint8Array;
}
