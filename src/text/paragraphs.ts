import { countCodePoints } from './code-points.ts';

const BREAK = /\n{2,}/g;

/** Returns the position of each paragraph in a text, in code points. Blank lines separate paragraphs. */
export function paragraphStarts(text: string): readonly number[] {
  const starts = [0];
  let [index, at] = [0, 0];
  for (const { 0: blank, index: start } of text.matchAll(BREAK)) {
    at += countCodePoints(text.slice(index, start + blank.length));
    index = start + blank.length;
    starts.push(at);
  }
  return starts;
}
