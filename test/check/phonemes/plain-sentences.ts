import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import WORDS from './sentence-words.json' with { type: 'json' };

/**
 * Returns the sentences of the pages and of the sentences for word errors that have only words and simple punctuation.
 * Quotation marks are left out: the reference takes them for a part of the word.
 */
export function sentencesOfRepository(root: string): readonly string[] {
  const pages = ['', 'docs', 'docs/api', 'docs/decisions', 'findings'].flatMap((folder) =>
    readdirSync(path.join(root, folder), { withFileTypes: true })
      .filter((file) => file.isFile() && file.name.endsWith('.md'))
      .map((file) => path.join(root, folder, file.name)),
  );
  const list = path.join(root, 'test/check/word-errors/sentences.tsv');
  const texts = pages.map((page) => readFileSync(page, 'utf8').replaceAll(/```.*?```/gs, ''));
  const paragraphs = texts.flatMap((text) => text.split(/\n\s*\n|\n *[-*|#] |\n\d+\. |\|/));
  const spoken = readFileSync(list, 'utf8').split(/[\n\t]/);
  const sentences = [...paragraphs, ...spoken].flatMap((paragraph) =>
    paragraph
      .replaceAll(/\s+/g, ' ')
      .trim()
      .split(/(?<=[.?!]) /),
  );
  return [...new Set(sentences)].filter((sentence) => {
    return (
      /^[A-Z][A-Za-z' ,;:.?!()-]{14,218}[.?!]$/.test(sentence) && !/[a-z]\.[a-z]/.test(sentence)
    );
  });
}

/**
 * Makes sentences from patterns. Random words of the dictionary get endings, become names and parts of compounds, so that
 * every rule meets many words.
 * @param random returns a number from 0 up to 1
 */
export function madeSentences(
  count: number,
  dictionary: readonly string[],
  random: () => number,
): readonly string[] {
  const { patterns, nouns, verbs, adjectives } = WORDS;
  const words = dictionary.filter((word) => /^[a-z]{3,12}$/.test(word));
  const names = dictionary.filter((word) => /^[A-Z][a-z]{2,10}$/.test(word));
  const pick = (list: readonly string[]) => list[Math.trunc(random() * list.length)] ?? 'word';
  const fill = (slot: string): string => {
    switch (slot) {
      case 'NAME':
        return pick(names);
      case 'RARE':
        return pick(words) + pick(['', '', 's', "'s", 'ed', 'ing']);
      case 'PAIR':
        return `${pick(nouns)}-${pick(words)}`;
      case 'NOUN':
        return pick(nouns) + pick(['', '', 's']);
      case 'VERB':
        return pick(verbs);
      case 'ADJ':
        return pick(adjectives);
      case 'LETTERS':
        return pick(['the FBI', 'the US', 'a CD', 'two PCs', 'her DNA', 'the BBC', 'an MRI']);
      default:
        return slot;
    }
  };
  return Array.from({ length: count }, () => pick(patterns).replaceAll(/[A-Z]{3,}/g, fill));
}
