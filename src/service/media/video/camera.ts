import { between, seededRandom } from '../pictures/scene/seeded-random.ts';

/** The part of a picture that is seen, as parts of its width and height. */
export interface View {
  readonly left: number;
  readonly top: number;
  /** Of either side, so that proportions stay. */
  readonly scale: number;
}

/** How much larger than the frames the picture is that the camera moves over. */
export const ROOM_TO_MOVE = 1.2;

/** From all of the picture to as much of it as there are pixels in a frame. */
const WIDEST = 1;
const NEAREST = 1 / ROOM_TO_MOVE;

/**
 * Moves a camera slowly over a picture: in or out, and from one corner towards another, as the seed says.
 * @param moment from 0, the first frame, to 1, the last
 */
export function viewAt(moment: number, seed: number): View {
  const random = seededRandom(seed);
  const [begin, end] = random() < 0.5 ? [WIDEST, NEAREST] : [NEAREST, WIDEST];
  const [fromX, fromY] = [between(random, 0.1, 0.9), between(random, 0.1, 0.9)];
  const eased = moment * moment * (3 - 2 * moment);
  const scale = begin + (end - begin) * eased;
  const room = 1 - scale;
  const along = (from: number): number => room * (from + (1 - 2 * from) * eased);
  return { left: along(fromX), top: along(fromY), scale };
}

/**
 * How much of the last picture is seen, 0 to 1, where there are a first and a last one: they change in the
 * middle third.
 */
export function fadeAt(moment: number): number {
  const within = Math.min(1, Math.max(0, (moment - 1 / 3) * 3));
  return within * within * (3 - 2 * within);
}
