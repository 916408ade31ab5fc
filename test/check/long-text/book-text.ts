const SUBJECTS =
  `the river|the old bridge|a cold wind|the last train|the garden|her letter|the lamp|the
  quiet street|a small boat|the market|the weather|the clock on the wall|the baker|the road`
    .split('|')
    .map((one) => one.replaceAll(/\s+/g, ' '));
const VERBS =
  `followed|carried|passed|reminded|surprised|outlived|answered|left behind|found`.split('|');
const OBJECTS =
  `the hills|every window|an empty house|the morning|its own shadow|the children|a song
  that nobody knew|the snow|the sea|a promise|what was said before|two strangers`
    .split('|')
    .map((one) => one.replaceAll(/\s+/g, ' '));
const ENDINGS = [
  '.',
  '.',
  '.',
  '!',
  '?',
  '; then it was dark.',
  ', and 3.5 miles later it rained.',
];

/**
 * Prose of about so many characters, never less: chapters, paragraphs and sentences of words that mean
 * little, the same each time.
 */
export function bookText(characters: number): string {
  const next = numbers();
  const pick = (list: readonly string[]): string => list[next() % list.length] ?? '';
  const sentence = (): string => {
    const subject = pick(SUBJECTS);
    const words = `${subject.charAt(0).toUpperCase()}${subject.slice(1)} ${pick(VERBS)} ${pick(OBJECTS)}`;
    const aside =
      next() % 3 === 0 ? `, while ${pick(SUBJECTS)} ${pick(VERBS)} ${pick(OBJECTS)}` : '';
    return words + aside + pick(ENDINGS);
  };
  const pieces: string[] = [];
  let length = 0;
  for (let paragraph = 0; length < characters; paragraph += 1) {
    const heading = paragraph % 40 === 0 ? `Chapter ${paragraph / 40 + 1}\n\n` : '';
    const sentences = Array.from({ length: 3 + (next() % 6) }, sentence);
    const piece = `${heading}${sentences.join(' ')}\n\n`;
    pieces.push(piece);
    length += piece.length;
  }
  return pieces.join('');
}

/** Small numbers in an order without a pattern, the same each time. */
function numbers(): () => number {
  let state = 20_011;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state >>> 16;
  };
}
