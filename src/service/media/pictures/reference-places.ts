import type { PictureSize } from './picture-size.ts';

/** Where a reference goes, in pixels. */
export interface Place extends PictureSize {
  readonly left: number;
  readonly top: number;
}

/** The part of a picture that references may take; the title is below it. */
const AREA = { left: 0.07, top: 0.08, width: 0.86, height: 0.56 } as const;
const GAP = 0.025;

/**
 * Places for references, in their order: beside each other, or in two rows where the picture is high
 * and they are more than two.
 */
export function referencePlaces(count: number, { width, height }: PictureSize): readonly Place[] {
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
