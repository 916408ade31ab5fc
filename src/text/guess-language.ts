/** A language that foley recognizes by its most frequent words. */
export interface GuessedLanguage {
  /** Language code (BCP 47), such as `fr`. */
  readonly code: string;
  /** English name, such as `French`. */
  readonly name: string;
}

/**
 * Guesses the language of a text in Latin letters by its most frequent words. Reads the beginning of a long text.
 * @returns undefined if the text is English, too short or uncertain
 */
export function guessLanguage(text: string): GuessedLanguage | undefined {
  const beginning = text.slice(0, READ_CHARACTERS).toLowerCase();
  const words = beginning.match(/\p{L}[\p{L}\p{M}]*/gu) ?? [];
  const counts = LANGUAGES.map(({ code, frequent, name }) => {
    const known = new Set(frequent.split(' '));
    return { code, name, count: words.filter((word) => known.has(word)).length };
  }).toSorted((one, other) => other.count - one.count);
  const [best, second] = counts;
  if (best === undefined || best.code === 'en' || best.count < MIN_WORDS) return undefined;
  if (best.count < MIN_SHARE * words.length || best.count === second?.count) return undefined;
  const english = counts.find(({ code }) => code === 'en')?.count ?? 0;
  return best.count > 2 * english ? { code: best.code, name: best.name } : undefined;
}

const READ_CHARACTERS = 2_000;
const MIN_WORDS = 2;
const MIN_SHARE = 0.2;

interface Language extends GuessedLanguage {
  /** Most frequent words. Each call splits them, because most commands guess no language. */
  readonly frequent: string;
}

const LANGUAGES: readonly Language[] = [
  {
    code: 'en',
    name: 'English',
    frequent:
      'the of and to a in is it you that he was for on are with as i his they be at this have from or had by not but what were we there your can an she do how if up out so my me no am our us has will would who all him her its when them which one',
  },
  {
    code: 'fr',
    name: 'French',
    frequent:
      'le la les de des du un une et est en que qui dans pour pas sur je vous nous il elle ce cette se ne au aux avec par plus suis sont son sa ses mais comme très être à ou où avez c l d',
  },
  {
    code: 'de',
    name: 'German',
    frequent:
      'der die das und ist nicht ein eine einen ich du er sie es wir ihr ihnen den dem des zu mit auf für von im sich auch wie an als aus bei nach heute noch nur war wird sind habe hat so am um zum geht',
  },
  {
    code: 'es',
    name: 'Spanish',
    frequent:
      'el la los las de del un una y es en que por para con no se su lo al como más pero está este esta usted ustedes muy yo son mi me ha cómo qué hoy',
  },
  {
    code: 'it',
    name: 'Italian',
    frequent:
      'il lo la i gli le di del della un una e è in che per con non si su da al come più ma sono questo questa mi ha anche nel alla tutto oggi molto',
  },
  {
    code: 'pt',
    name: 'Portuguese',
    frequent:
      'o a os as de do da dos das um uma e é em que por para com não se na no como mais mas está este esta você eu muito são ao seu sua hoje',
  },
  {
    code: 'nl',
    name: 'Dutch',
    frequent:
      'de het een en van is niet in op te dat die voor met zijn ik je u hij ze wij er aan maar om ook als bij nog naar wat hoe gaat vandaag uit kan',
  },
];
