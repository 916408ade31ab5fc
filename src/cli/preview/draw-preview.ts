import { halfBlocks } from './half-blocks.ts';
import { itermImage, kittyImage } from './inline-image.ts';
import type { Pixels } from './pixels.ts';
import type { PreviewWay } from './preview-way.ts';
import { sixel } from './sixel.ts';

/** As wide as that it shows enough, and leaves what was written before in sight. */
const MOST_COLUMNS = 72;
const MOST_ROWS = 36;
/** What one column is wide, about, where pixels are drawn. */
const COLUMN_PIXELS = 10;

/**
 * A picture as text for a terminal; undefined when it cannot be drawn here (no sharp for this platform).
 * @param picture the file, of any format that pictures come in
 */
export async function drawPreview(
  picture: Uint8Array,
  way: PreviewWay,
  { columns }: { readonly columns: number },
): Promise<string | undefined> {
  try {
    const { default: sharp } = await import('sharp');
    const wide = Math.min(MOST_COLUMNS, columns);
    const isDrawn = way !== 'blocks';
    const width = isDrawn ? wide * COLUMN_PIXELS : wide;
    const height = isDrawn ? MOST_ROWS * COLUMN_PIXELS * 2 : MOST_ROWS * 2;
    const small = sharp(picture).resize({
      width,
      height,
      fit: 'inside',
      withoutEnlargement: isDrawn,
    });
    if (way === 'kitty' || way === 'iterm2') {
      const { data, info } = await small.png().toBuffer({ resolveWithObject: true });
      const taken = Math.max(1, Math.round(info.width / COLUMN_PIXELS));
      return way === 'kitty' ? kittyImage(data, taken) : itermImage(data, taken);
    }
    const flat = small.removeAlpha().toColorspace('srgb').raw();
    const { data, info } = await flat.toBuffer({ resolveWithObject: true });
    const pixels: Pixels = { width: info.width, height: info.height, rgb: new Uint8Array(data) };
    return way === 'sixel' ? sixel(pixels) : halfBlocks(pixels);
  } catch {
    return undefined;
  }
}
