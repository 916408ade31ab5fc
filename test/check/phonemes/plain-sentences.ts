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
