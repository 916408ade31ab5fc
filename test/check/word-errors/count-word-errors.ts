/** A sentence as it is written, and the ways in which it may be read, as words in lower case. */
export interface Sentence {
  readonly written: string;
  readonly readings: readonly (readonly string[])[];
}

/** Reads sentences from lines: what is written, a tab, and readings with `|` between them if they differ from that. */
export function sentencesOf(table: string): readonly Sentence[] {
  const lines = table.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [written = '', readings = written] = line.split('\t');
    return { written, readings: readings.split('|').map(wordsOf) };
  });
}

/** Counts the words that were heard wrong, missed or added, compared with the nearest reading of each sentence. */
export function countWordErrors(sentences: readonly Sentence[], heard: readonly string[]) {
  let errors = 0;
  let words = 0;
  const misheard: string[] = [];
  for (const [index, { readings, written }] of sentences.entries()) {
    const found = wordsOf(heard[index] ?? '');
    const [best = { distance: 0, length: 0 }] = readings
      .map((reading) => ({ distance: distance(reading, found), length: reading.length }))
      .toSorted((one, other) => one.distance - other.distance);
    errors += best.distance;
    words += best.length;
    if (best.distance > 0) misheard.push(`${best.distance}: ${written} -> ${found.join(' ')}`);
  }
  return { errors, words, misheard };
}

function wordsOf(text: string): readonly string[] {
  const plain = text.toLowerCase().replaceAll(/[^a-z' ]/g, ' ');
  return plain.split(' ').filter((word) => word !== '');
}

/** The least number of words or sounds to replace, insert or delete that makes one list the other. */
export function distance(wanted: readonly string[], found: readonly string[]): number {
  let row = found.map((_, index) => index + 1);
  for (const [index, word] of wanted.entries()) {
    let diagonal = index;
    let left = index + 1;
    row = row.map((above, at) => {
      const least = Math.min(above + 1, left + 1, diagonal + (word === found[at] ? 0 : 1));
      diagonal = above;
      left = least;
      return least;
    });
  }
  return row.at(-1) ?? wanted.length;
}
