/** How text may look on one stream: its width and whether colors are welcome there. */
export interface Look {
  /** Infinite where nobody looks, so that nothing is cut for the next program. */
  readonly columns: number;
  readonly paint: Paint;
}

/** The few emphases that foley uses. */
export interface Paint {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly green: (text: string) => string;
}

const asItIs = (text: string): string => text;

export const PLAIN: Paint = {
  bold: asItIs,
  dim: asItIs,
  red: asItIs,
  yellow: asItIs,
  green: asItIs,
};

/** Colors, loaded only where they are shown. */
export async function loadPaint(): Promise<Paint> {
  const { Chalk } = await import('chalk');
  return new Chalk({ level: 1 });
}
