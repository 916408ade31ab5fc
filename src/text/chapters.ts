import { countCodePoints } from './code-points.ts';
import type { ChapterStart, SpokenText } from './document.ts';
import { cutSpoken } from './document.ts';
import { DocumentError } from './formats/document-error.ts';
import { SPEAKABLE } from './parts.ts';

/** Numbers from `first` to `last`. */
export interface NumberRange {
  readonly first: number;
  readonly last: number;
}

/** The chapters of a document that are read: all of them, unless a flag is given. */
export interface ChapterChoice {
  /** The numbers of the chapters, from 1. Text before the first chapter has no number, and is left out. */
  readonly onlyChapters?: readonly NumberRange[] | undefined;
  /** Whether the text before the main text, such as a title page, is left out. */
  readonly skipFrontMatter?: true | undefined;
}

/** A chapter of a document, or its part in one file of a book. */
export interface Section {
  /** The number of the chapter, from 1; 0 for text before the first chapter. Counts chapters that have text. */
  readonly number: number;
  /** Number of chapters in the document. */
  readonly total: number;
  readonly title: string | undefined;
  readonly isFrontMatter: boolean;
  readonly text: SpokenText;
}

/** Splits a document, which has one text for each of its files, at its chapters. */
export function sectionsOf(parts: readonly SpokenText[]): readonly Section[] {
  const body = mainTextOf(parts);
  const sections: Omit<Section, 'total'>[] = [];
  let number = 0;
  let title: string | undefined;
  for (const [index, part] of parts.entries()) {
    const starts = startsOf(part);
    const bodyStart = body?.part === index ? body.at : 0;
    const cuts = new Set([0, bodyStart, ...starts.keys()]);
    const edges = [...cuts].toSorted((a, b) => a - b);
    for (const [at, text] of cutSpoken(part, edges).entries()) {
      if (!SPEAKABLE.test(text.text)) continue;
      const edge = edges[at] ?? 0;
      const start = starts.get(edge);
      if (start !== undefined) [number, title] = [number + 1, start];
      const isFrontMatter =
        body !== undefined && (index < body.part || (index === body.part && edge < bodyStart));
      const chapters = start === undefined ? [] : [{ title: start, at: 0 }];
      sections.push({ number, title, isFrontMatter, text: { ...text, chapters } });
    }
  }
  return sections.map((section) => ({ ...section, total: number }));
}

// The titles of chapters by their positions. If several begin at one position, the last one is the innermost.
function startsOf({ chapters = [] }: SpokenText): ReadonlyMap<number, string> {
  return new Map(chapters.map(({ at, title }) => [at, title]));
}

// Where the main text begins: where the book says so, or at the first chapter that is not front matter by its title.
function mainTextOf(
  parts: readonly SpokenText[],
): { readonly part: number; readonly at: number } | undefined {
  for (const [part, { chapters = [], frontMatter, text }] of parts.entries()) {
    if (frontMatter !== undefined) {
      if (frontMatter < countCodePoints(text)) return { part, at: frontMatter };
      continue;
    }
    const first = chapters.toSorted(byPosition).find(({ title }) => !FRONT_TITLE.test(title));
    if (first !== undefined) return { part, at: first.at };
  }
  return undefined;
}

function byPosition(one: ChapterStart, other: ChapterStart): number {
  return one.at - other.at;
}

const FRONT_TITLE =
  /^(?:the )?(?:front |back |book )?(?:cover|half[- ]?title|title ?page|copyright(?: (?:page|notice))?|imprint|colophon|dedication|epigraph|(?:table of )?contents|also by .*|praise for .*|about this (?:e-?)?book)\.?$/iu;

/**
 * Returns the chosen sections of a document.
 * @param all the sections of the document
 * @param onNotice called with a sentence that names the front matter that is left out
 * @throws DocumentError if the document has no such chapter, or nothing is left
 */
export function chosenSections(
  all: readonly Section[],
  { onlyChapters, skipFrontMatter }: ChapterChoice,
  onNotice?: (sentence: string) => void,
): readonly Section[] {
  if (onlyChapters !== undefined) requireChapters(all, onlyChapters);
  const wanted = all.filter(
    ({ number }) =>
      onlyChapters?.some(({ first, last }) => number >= first && number <= last) ?? true,
  );
  if (skipFrontMatter !== true) return wanted;
  const front = wanted.filter(({ isFrontMatter }) => isFrontMatter);
  if (front.length === wanted.length) {
    throw new DocumentError('the document has nothing but front matter', {
      hint: 'Leave --skip-front-matter out.',
    });
  }
  if (front.length > 0) onNotice?.(describeFrontMatter(front));
  return wanted.filter(({ isFrontMatter }) => !isFrontMatter);
}

function requireChapters(all: readonly Section[], ranges: readonly NumberRange[]): void {
  const titles = new Map(all.map(({ number, title = '' }) => [number, title]));
  titles.delete(0);
  const missing = ranges.find(({ last }) => last > titles.size);
  if (missing === undefined) return;
  const known = Array.from(titles, ([number, title]) => `${number} ${title}`);
  const shown = known.length > MOST_SHOWN ? [...known.slice(0, MOST_SHOWN), '…'] : known;
  const count = titles.size === 0 ? 'no chapters' : `the chapters 1 to ${titles.size}`;
  throw new DocumentError(
    `--only-chapters names chapter ${missing.last}; the document has ${count}`,
    {
      hint:
        titles.size === 0 ? 'Leave --only-chapters out.' : `The chapters are: ${shown.join(', ')}.`,
    },
  );
}

const MOST_SHOWN = 20;

function describeFrontMatter(front: readonly Section[]): string {
  const titles = new Set(front.flatMap(({ title }) => title ?? []));
  const names = titles.size === 0 ? '' : ` (${[...titles].join(', ')})`;
  const characters = front.reduce((sum, { text }) => sum + countCodePoints(text.text), 0);
  return `${characters} characters of front matter are left out${names}`;
}
