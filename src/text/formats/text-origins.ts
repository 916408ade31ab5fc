/**
 * The place in a document where a part of its text stands. All positions are UTF-16 units. If both ranges have the same
 * length, they have the same characters. Otherwise the whole range of the document stands for the part, as a character
 * reference does.
 */
export interface TextOrigin {
  /** Start and end of the part in the text. */
  readonly textStart: number;
  readonly textEnd: number;
  /** Start and end of its source in the document. */
  readonly start: number;
  readonly end: number;
}

/** Source of the next `length` UTF-16 units of a text: a range of the document. */
export interface PieceSource {
  readonly length: number;
  readonly start: number;
  readonly end: number;
}

/** Returns the source of a text of this length that stands for the whole of these pieces. */
export function wholeSource(pieces: readonly PieceSource[], length: number): PieceSource[] {
  const [first, last] = [pieces[0], pieces.at(-1)];
  return first === undefined || last === undefined || length === 0
    ? []
    : [{ length, start: first.start, end: last.end }];
}

/**
 * Returns the origins of the words of a text whose white space is merged, and whose invisible signs are left out.
 * @param text the text with its white space and signs
 * @param pieces the sources of `text`, in order
 * @param at position of the first word in the result
 */
export function originsOfWords(
  text: string,
  pieces: readonly PieceSource[],
  at: number,
): readonly TextOrigin[] {
  const origins: TextOrigin[] = [];
  let [next, pieceStart, before, to] = [0, 0, 0, at];
  for (const { 0: letters, index } of text.matchAll(VISIBLE)) {
    if (to > at && /[^\u00ad\u200b\ufeff]/.test(text.slice(before, index))) to += 1;
    before = index + letters.length;
    for (let from = index; from < before;) {
      let piece = pieces[next];
      while (piece !== undefined && pieceStart + piece.length <= from) {
        pieceStart += piece.length;
        next += 1;
        piece = pieces[next];
      }
      if (piece === undefined) return origins;
      const length = Math.min(before, pieceStart + piece.length) - from;
      const isSame = piece.end - piece.start === piece.length;
      const start = piece.start + (isSame ? from - pieceStart : 0);
      const end = isSame ? start + length : piece.end;
      origins.push({ textStart: to, textEnd: to + length, start, end });
      from += length;
      to += length;
    }
  }
  return origins;
}

const VISIBLE = /[^\s\u00ad\u200b\ufeff]+/g;
