/**
 * Short words of languages with spaces that belong to what follows them, and words that begin a
 * clause. Languages are not told apart: a wrong guess costs a slightly worse line, no more.
 */

const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/));

/** Articles, prepositions, possessives and the like: a line that ends with one is hard to read. */
export const LEADING_WORDS = words(
  `a an the my your his her its our their this that these those some any every each no of in on at to
  from for with by into onto over under after before about between through during without within
  against among upon off than as per via near across along around behind below beneath beside beyond
  down inside outside toward towards up above not very so more most such quite rather too
  und der die das den dem des ein eine einen einem einer eines kein keine keinen mein meine meinen sein
  seine seinen ihr ihre ihren unser unsere unseren dieser diese dieses diesen diesem jeder jede
  jedes im am zum zur vom beim ins ans auf aus bei bis durch für gegen hinter mit nach neben ohne
  seit über um unter von vor während wegen zu zwischen nicht sehr
  le la les un une des du de mon ma mes ton ta tes son sa ses notre votre leur leurs ce cet cette ces
  à au aux dans sur sous avec sans pour par chez vers entre
  el los las unos unas del al mi tu su sus este esta estos estas con sin por para según
  il lo gli i uno dello della dei degli delle nel nella con per tra fra
  o os as um uma uns umas dos da das no na nos nas em com por
  het een van naar met voor door bij uit op`,
);

/** Conjunctions and relatives: a line may begin with one, and had better not end with one. */
export const CLAUSE_WORDS = words(
  `and or but nor yet because although though while when whenever where whereas if unless until since
  which who whom whose that what how why whether
  und oder aber sondern denn weil dass daß obwohl während wenn als ob damit bevor nachdem sobald
  sodass wo wie
  et ou mais car donc parce que qui quand lorsque si comme où
  y o pero porque aunque cuando si que donde como
  e ma perché che quando se dove come mas porque quando onde en of maar want omdat dat als toen`,
);

/** Pronouns and auxiliary verbs, which lead on to a verb. */
export const LINKING_WORDS = words(
  `i you he she it we they who is are was were be been being am do does did have has had will would
  can could shall should may might must don't didn't doesn't won't can't isn't aren't i'm you're
  he's she's it's we're they're i've we've i'll we'll you'll let's
  ich du er sie es wir ihr man ist sind war waren hat haben hatte wird werden wurde kann können muss
  müssen soll will
  je tu il elle on nous vous ils elles est sont a ont`,
);

/** Titles and abbreviations that something follows, always. */
export const ABBREVIATIONS = words(
  `dr. mr. mrs. ms. prof. hr. nr. ca. bzw. vgl. evtl. ggf. inkl. sog. z.b. d.h. u.a. mme. mlle.
  sra. geb. zzgl. bspw. insb.`,
);

/** Titles, and abbreviations that also end a sentence, or are words. */
export const TITLES = words(
  'st. mt. fr. herr frau mr mrs ms dr prof mme mlle z. d. s. u. m. str. sr.',
);

/** What is numbered: an abbreviation when a number follows. */
export const NUMBERED = words('abs. art. bd. kap. s. no. vol. fig. p. pp. sec. ch.');

/** Words before an ordinal number, where it has a stop. */
export const BEFORE_ORDINALS = words(
  'am vom zum bis der den dem des im ab seit nach vor die das jeden und pro',
);
