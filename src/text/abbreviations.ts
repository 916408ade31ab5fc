/**
 * English words that are written with a full stop of their own. Compared in lower case, without
 * the last stop.
 */

/** Something always follows these: a name, an example, an amount. */
const NEVER_LAST = new Set(
  `adm approx brig capt cf cmdr col cpl dr e.g eq eqn esp gen gov hon i.e lt maj messrs mr mrs ms
  mt mx prof pvt rep resp rev sen sgt supt viz vs`.split(/\s+/),
);

/** A number follows these when they are abbreviations; otherwise they are words like any other. */
const BEFORE_A_NUMBER = new Set(
  `art ch chap fig figs no nos nr op p par pp sec sect vol vols`.split(/\s+/),
);

/** These may stand inside a sentence or end it. */
const MAY_BE_LAST = new Set(
  `al apr assn aug ave blvd bros ca co corp dec dept dist ed eds est etc ext feb fri ft hr hrs hwy inc jan jr jul jun
  lb lbs ltd mar max min misc mon nov oct oz rd sat sep sept sr st sun tel thu thur thurs tue tues univ
  wed yr yrs`.split(/\s+/),
);

/** Words that begin a sentence far more often than they follow an abbreviation within one. */
const SENTENCE_STARTERS = new Set(
  `A After All Also An And Another As At Because Before But By Did Do Does Each Even Every Few First
  For From Had Has Have He Her Here His How However I If In Is It Its It's Last Later Let Many Maybe
  Meanwhile More Most My Next No Nobody Not Nothing Now On Once One Only Or Our Perhaps Please She
  Should Since So Some Sometimes Soon Still Such Thank That That's The Their Then There There's
  These They This Those Though Thus Today Tomorrow Two Under Until Was We Were What When Where
  Whether Which While Who Why Will With Without Would Yes Yesterday Yet You Your`.split(/\s+/),
);

const SINGLE_LETTER = /^\p{L}$/u;
const DOTTED = /^(?:\p{L}{1,3}\.)+\p{L}{1,3}$/u;
const FIRST_WORD = /^\p{Lu}[\p{L}'’]*/u;

/**
 * Whether a full stop after `word` belongs to the word, so that the sentence goes on. In doubt it
 * does: a sentence that is too long is cut again at a clause, one that is cut at a name is heard.
 *
 * @param word what stands before the stop, without opening quotes and brackets
 * @param following the text that follows, without opening quotes and brackets; its beginning will do
 */
export function isAbbreviation(word: string, following: string): boolean {
  const lower = word.toLowerCase();
  if (NEVER_LAST.has(lower)) return true;
  if (BEFORE_A_NUMBER.has(lower)) return /^\d/.test(following);
  return dependsOnNextWord(word) && !startsSentence(following);
}

/** Whether a full stop after `word` may belong to it, whatever follows. */
export function mayBeAbbreviation(word: string): boolean {
  const lower = word.toLowerCase();
  return NEVER_LAST.has(lower) || BEFORE_A_NUMBER.has(lower) || dependsOnNextWord(word);
}

/** Whether the whole of the next word decides it: a single letter, `U.S`, and words such as `etc`. */
export function dependsOnNextWord(word: string): boolean {
  return MAY_BE_LAST.has(word.toLowerCase()) || SINGLE_LETTER.test(word) || DOTTED.test(word);
}

function startsSentence(following: string): boolean {
  const first = FIRST_WORD.exec(following)?.[0];
  if (first === undefined || following[first.length] === '.') return false;
  return SENTENCE_STARTERS.has(first.replace('’', "'"));
}
