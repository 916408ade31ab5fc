import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openEnglish } from '../../../src/phonemes/english.ts';
import { installPythonTools } from '../../harness/python-tools.ts';
import { drawn, underSeed } from '../../harness/seed.ts';
import { HOMOGRAPHS } from '../../phonemes/homographs.ts';
import { distance } from '../word-errors/count-word-errors.ts';
import { sentencesOfRepository } from './plain-sentences.ts';
import WORDS from './sentence-words.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const ASSETS = path.join(ROOT, 'assets/voice');
const PYTHON_FILES = path.join(ROOT, 'test/check/python');
const MADE_SENTENCES = 1_600;
const MOST_ERRORS = 0.006;

interface Reading {
  readonly sentences: readonly string[];
  readonly words: Readonly<Record<string, string>>;
}

test('English is read as the reference reads it', { timeout: 600_000 }, () =>
  underSeed(async (seed) => {
    const sentences = [
      ...sentencesOfRepository(ROOT),
      ...madeSentences(MADE_SENTENCES, dictionaryWords(), randomOf(seed)),
    ];
    expect(sentences.length).toBeGreaterThanOrEqual(2_000);
    const unknown = new Set<string>();
    read(sentences, (word) => (unknown.add(word), ''));
    const reference = await readWithReference(sentences, [...unknown]);
    const found = read(sentences, (word) => reference.words[word] ?? '');
    const wanted = reference.sentences.map((sentence) => sentence.trim());
    const errors = found.map((one, at) => distance((wanted[at] ?? '').split(''), one.split('')));
    const rate = sum(errors) / sum(wanted.map(({ length }) => length));
    const exact = errors.filter((one) => one === 0).length / sentences.length;
    const worst = sentences
      .map((sentence, at) => ({
        sentence,
        wanted: wanted[at],
        found: found[at],
        errors: errors[at] ?? 0,
      }))
      .toSorted((one, other) => other.errors - one.errors);
    const report = `error rate ${(100 * rate).toFixed(3)} %, ${(100 * exact).toFixed(1)} % of ${sentences.length} sentences without error`;
    expect(rate, `${report}\n${JSON.stringify(worst.slice(0, 20), null, 1)}`).toBeLessThanOrEqual(
      MOST_ERRORS,
    );
  }),
);

test(
  'at least as many words with several pronunciations are right as in the reference',
  { timeout: 600_000 },
  async () => {
    const sentences = HOMOGRAPHS.map(({ sentence }) => sentence);
    const reference = await readWithReference(sentences, []);
    const found = read(sentences, () => '?');
    expect(rightWords(found)).toBeGreaterThanOrEqual(rightWords(reference.sentences));
  },
);

/** Counts the homographs with the right phonemes, in sentences whose words have one group of phonemes each. */
function rightWords(sentences: readonly string[]): number {
  return HOMOGRAPHS.filter(({ phonemes, sentence, word }, at) => {
    const index = sentence.split(' ').findIndex((one) => one.replace(/[.,?!]$/, '') === word);
    const found = sentences[at]?.split(' ')[index]?.replaceAll(/[ˌ.,?!]/g, '');
    return found === phonemes.replaceAll('ˌ', '');
  }).length;
}

function read(
  sentences: readonly string[],
  readUnknown: (word: string) => string,
): readonly string[] {
  const english = openEnglish(ASSETS, readUnknown);
  return sentences.map((sentence) =>
    english
      .phonemes(sentence)
      .map(({ hasSpaceAfter, phonemes }) => phonemes + (hasSpaceAfter ? ' ' : ''))
      .join(''),
  );
}

async function readWithReference(
  sentences: readonly string[],
  words: readonly string[],
): Promise<Reading> {
  const bin = await installPythonTools(path.join(PYTHON_FILES, 'phonemes.txt'));
  const script = path.join(PYTHON_FILES, 'read_phonemes.py');
  const input = JSON.stringify({ sentences, words });
  const { stdout } = await execa(path.join(bin, 'python'), [script], { input });
  return JSON.parse(stdout);
}

function dictionaryWords(): readonly string[] {
  const lines = readFileSync(path.join(ASSETS, 'words.txt'), 'utf8').split('\n');
  return lines.map((line) => line.slice(0, line.indexOf('\t')));
}

function randomOf(seed: number): () => number {
  const numbers = drawn(fc.nat(2 ** 30 - 1), 50_000, seed).values();
  return () => (numbers.next().value ?? 0) / 2 ** 30;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

/**
 * Makes sentences from patterns. Random words of the dictionary get endings, become names and parts of compounds, so that
 * every rule meets many words.
 * @param random returns a number from 0 up to 1
 */
function madeSentences(
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
