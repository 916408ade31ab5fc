import { cardinal, ordinal } from './numbers.ts';
import type { Place, Token } from './tokens.ts';

// Books of which there are several, with their abbreviations. The first word is the name.
const SERIES =
  books(`Samuel Sam|Kings Kgs Ki|Chronicles Chron Chr|Corinthians Cor|Thessalonians Thess Thes|Timothy Tim
  |Peter Pet Pt|John Jn|Maccabees Macc|Esdras Esd`);
const SINGLE =
  books(`Genesis Gen|Exodus Exod Ex|Leviticus Lev|Numbers Num|Deuteronomy Deut Dt|Joshua Josh|Judges Judg|Ruth
  |Ezra|Nehemiah Neh|Esther Esth|Job|Psalms Pss|Psalm Ps|Proverbs Prov|Ecclesiastes Eccl Eccles|Isaiah Isa|Jeremiah Jer
  |Lamentations Lam|Ezekiel Ezek|Daniel Dan|Hosea Hos|Joel|Amos|Obadiah Obad|Jonah Jon|Micah Mic|Nahum Nah|Habakkuk Hab
  |Zephaniah Zeph|Haggai Hag|Zechariah Zech|Malachi Mal|Matthew Matt Mt|Mark Mk|Luke Lk|Acts|Romans Rom|Galatians Gal
  |Ephesians Eph|Philippians Phil|Colossians Col|Titus Tit|Philemon Philem|Hebrews Heb|James Jas|Jude|Revelation Rev
  |Sirach Sir|Tobit Tob|Judith Jdt|Wisdom Wis|Baruch Bar|Quran|Qur'an|Qur’an|Koran|Surah|Sura|Mormon|Alma|Nephi`);
// Abbreviations with no other meaning before a chapter alone. The others need a verse: `Rev. 3` may be a revision.
const CHAPTER_ALONE =
  /^(?:Exod|Lev|Deut|Judg|Neh|Esth|Pss?|Prov|Eccl|Eccles|Isa|Ezek|Hos|Obad|Hab|Zeph|Zech|Rom|Gal|Eph|Heb)$/;
const CHAPTER = /^\d{1,3}$/;
const VERSE = /^(\d{1,3}):([1-9]\d{0,2})([a-c]?)(?:[-–](\d{1,3})(?::(\d{1,3}))?)?$/;
const NUMBER = /^(?:[123]|I{1,3})$/;
// A list of verses after a book, as in `Romans 3:23; 6:23, 8:1`, is searched back to its book through so many verses.
const LONGEST_LIST = 8;

/** Returns the full names of books by their names and abbreviations. */
function books(list: string): ReadonlyMap<string, string> {
  const names = list.split('|').map((entry) => entry.trim().split(/\s+/));
  return new Map(
    names.flatMap(([name = '', ...short]) => [name, ...short].map((one) => [one, name])),
  );
}

/** Returns the spoken form of a chapter and verse after the name of a book: `13:4-7` → `thirteen four to seven`. */
export function readVerse(word: string, place: Place): string | undefined {
  const [, chapter, verse = '', part = '', to, last] = VERSE.exec(word) ?? [];
  if (chapter === undefined || !followsBook(place)) return undefined;
  const { region } = place;
  const end = [to, last].flatMap((number) =>
    number === undefined ? [] : cardinal(number, region),
  );
  return [
    cardinal(chapter, region),
    cardinal(verse, region),
    ...(part === '' ? [] : [part.toUpperCase()]),
    ...(end.length === 0 ? [] : ['to', ...end]),
  ].join(' ');
}

/** Returns true if the token before this one is a book, or a verse of a list that begins with a book. */
function followsBook({ tokens, at }: Place): boolean {
  for (let back = 1; back <= LONGEST_LIST; back += 1) {
    const token = tokens[at - back];
    if (token === undefined) return false;
    const isListed =
      /^[,;]?$/.test(token.after) &&
      (VERSE.test(token.text) || /^(?:and|\d{1,3})$/.test(token.text));
    if (!isListed) {
      const isName =
        SINGLE.has(token.text) || isInSeries(tokens, at - back) || token.text === 'John';
      return isName && /^\.?$/.test(token.after);
    }
  }
  return false;
}

/** Returns true for a book with its number before it, such as the `Cor.` of `1 Cor.` */
function isInSeries(tokens: readonly Token[], at: number): boolean {
  const number = tokens[at - 1];
  return SERIES.has(tokens[at]?.text ?? '') && number?.after === '' && NUMBER.test(number.text);
}

/** Returns the spoken form of an abbreviated book before a chapter, such as `Genesis` for `Gen.` in `Gen. 1:1`. */
export function readBook(word: string, { tokens, at }: Place): string | undefined {
  const inSeries = isInSeries(tokens, at) ? SERIES.get(word) : undefined;
  const name = inSeries ?? SINGLE.get(word);
  const { after = '' } = tokens[at] ?? {};
  const next = tokens[at + 1]?.text ?? '';
  if (name === undefined || name === word) return undefined;
  const hasChapter = after === '.' && CHAPTER.test(next);
  const isChapter = hasChapter && (inSeries !== undefined || CHAPTER_ALONE.test(word));
  const isBefore = /^\.?$/.test(after) && VERSE.test(next);
  return isChapter || isBefore || CLEAR.test(word) ? name : undefined;
}

// Names of books that nothing else has.
const CLEAR = /^(?:Corinthians|Cor|Thessalonians|Thess|Chronicles|Chron|Maccabees|Macc)$/;

/** Returns the spoken form of the number of a book, such as `first` for the `1` of `1 Corinthians 13:4`. */
export function readBookNumber(word: string, place: Place): string | undefined {
  const { at, region, tokens } = place;
  const book = tokens[at + 1];
  if (book === undefined || !NUMBER.test(word) || !isInSeries(tokens, at + 1)) return undefined;
  const next = tokens[at + 2]?.text ?? '';
  const hasChapter = /^\.?$/.test(book.after) && (VERSE.test(next) || CHAPTER.test(next));
  if (!hasChapter && !CLEAR.test(book.text)) return undefined;
  return ordinal(/^\d$/.test(word) ? word : word.length, region);
}
