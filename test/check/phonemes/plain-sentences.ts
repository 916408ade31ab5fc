import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

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
  const pick = <T>(list: readonly [T, ...T[]]): T =>
    list[Math.trunc(random() * list.length)] ?? list[0];
  const words = dictionary.filter((word) => /^[a-z]{3,12}$/.test(word));
  const names = dictionary.filter((word) => /^[A-Z][a-z]{2,10}$/.test(word));
  const anyOf = (list: readonly string[]) => list[Math.trunc(random() * list.length)] ?? 'word';
  const fill = (slot: string): string => {
    switch (slot) {
      case 'NAME':
        return anyOf(names);
      case 'RARE':
        return anyOf(words) + pick(['', '', 's', "'s", 'ed', 'ing']);
      case 'PAIR':
        return `${pick(NOUNS)}-${anyOf(words)}`;
      case 'NOUN':
        return pick(NOUNS) + pick(['', '', 's']);
      case 'VERB':
        return pick(VERBS);
      case 'ADJ':
        return pick(ADJECTIVES);
      case 'LETTERS':
        return pick(['the FBI', 'the US', 'a CD', 'two PCs', 'her DNA', 'the BBC', 'an MRI']);
      default:
        return slot;
    }
  };
  return Array.from({ length: count }, () => pick(PATTERNS).replaceAll(/[A-Z]{3,}/g, fill));
}

const PATTERNS = [
  'The ADJ NOUN VERB the NOUN, and NAME saw the RARE.',
  "NAME didn't VERB to the NOUN because it was too ADJ.",
  'In the morning, a RARE from NAME came in with an ADJ NOUN.',
  "We'll VERB the PAIR if NAME's NOUN isn't ADJ.",
  'Who is the ADJ NOUN that they VERB by the NOUN of NAME?',
  'I used to VERB the NOUN; now I am used by NAME and its RARE.',
  'There were ADJ RARE in NAME, but LETTERS would VERB it!',
  "What's the NOUN (the ADJ one) to the RARE and to NAME?",
  'He said that that NOUN has been ADJ: it can VERB, so it will.',
  'They VERB an NOUN for the RARE to VERB in.',
  "You've seen how LETTERS VERB the NOUN, haven't you?",
  'At the NOUN of the RARE, my NOUN had to VERB an ADJ PAIR.',
] as const;

const NOUNS = [
  'apple',
  'river',
  'engine',
  'hour',
  'child',
  'record',
  'window',
  'island',
  'market',
  'letter',
  'answer',
  'umbrella',
  'object',
  'house',
  'machine',
  'owner',
  'project',
  'garden',
  'uniform',
  'eye',
  'bridge',
  'animal',
  'permit',
  'story',
] as const;

const VERBS = [
  'read',
  'use',
  'open',
  'carry',
  'live',
  'close',
  'watched',
  'eat',
  'visited',
  'ask',
  'present',
  'follow',
  'heated',
  'wanted',
  'hear',
  'record',
  'need',
  'offer',
  'painting',
  'produce',
  'started',
  'think',
  'imagine',
  'waited',
] as const;

const ADJECTIVES = [
  'old',
  'quick',
  'honest',
  'separate',
  'empty',
  'quiet',
  'perfect',
  'ugly',
  'close',
  'early',
  'frozen',
  'beautiful',
  'native',
  'hourly',
  'yellow',
  'absent',
  'european',
  'sixth',
  'united',
  'only',
  'live',
  'thirsty',
  'invalid',
  'main',
] as const;
