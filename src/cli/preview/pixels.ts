/** A picture without alpha, three bytes a pixel, row after row. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly rgb: Uint8Array;
}
