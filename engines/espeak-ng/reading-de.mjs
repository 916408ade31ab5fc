// German that espeak-ng reads wrong: ordinals, dates, years, times, money, units, telephone numbers
// and abbreviations.

import { abbreviations, dates, money, pattern, ranges, units } from './reading-parts.mjs';

const MONTHS =
  'Januar Februar März April Mai Juni Juli August September Oktober November Dezember'.split(' ');
const MONTH = `(?:${MONTHS.join('|')}|Jänner)`;

/** Ordinals without their ending. */
const FIRST =
  'nullt erst zweit dritt viert fünft sechst siebt acht neunt zehnt elft zwölft dreizehnt vierzehnt fünfzehnt sechzehnt siebzehnt achtzehnt neunzehnt'.split(
    ' ',
  );
const ONES = ' ein zwei drei vier fünf sechs sieben acht neun'.split(' ');
const TENS = '  zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig'.split(' ');

/** Words before an ordinal that ends in -en, -e or -er. */
const ENDS_IN_EN =
  /^(?:am|im|vom|zum|beim|zur|ab|bis|seit|vor|nach|de[mns]|(?:dies|jed|jen|[mdsk]?ein|ihr|unser|eur)(?:em|en)|[mdsk]?eine[rs])$/iu;
const ENDS_IN_E =
  /^(?:der|die|das|ins|ans|fürs|diese[rs]?|jede[rs]?|[mdsk]?eine|ihre|unsere|eure)$/iu;
const ENDS_IN_ER = /^(?:ein|kein|mein|dein|sein|ihr|unser|euer)$/iu;
const WITH_DATIVE =
  /^(?:in|mit|von|zu|bei|nach|aus|seit|an|auf|unter|vor|während|wegen|trotz|ab)$/iu;

/**
 * Returns the ending of an ordinal after a text; undefined if the text does not lead to an ordinal.
 * @param {string} before
 */
function endingAfter(before) {
  const words = before.trim().split(/\s+/);
  // `am 2. und 3. Mai`
  while (/^(?:und|bis|oder|sowie)$/.test(words.at(-1) ?? '') && /^\d+\.$/.test(words.at(-2) ?? ''))
    words.splice(-2);
  const [earlier, word] = [words.at(-2) ?? '', words.at(-1) ?? ''];
  if (ENDS_IN_EN.test(word)) return 'en';
  if (/^der$/i.test(word) && WITH_DATIVE.test(earlier)) return 'en';
  if (ENDS_IN_E.test(word)) return 'e';
  return ENDS_IN_ER.test(word) ? 'er' : undefined;
}

/**
 * @param {number} number
 * @param {string} ending
 */
function ordinal(number, ending) {
  const rest = number % 100;
  const hundreds = number - rest;
  if (rest === 0) return `${hundreds === 100 ? '' : ONES[hundreds / 100]}hundertst${ending}`;
  const few = `${ONES[rest % 10]}${rest % 10 === 0 ? '' : ' und '}${TENS[Math.floor(rest / 10)]}st`;
  return `${hundreds === 0 ? '' : `${hundreds} `}${FIRST[rest] ?? few}${ending}`;
}

/**
 * Reads 1987 as `19 hundert 87`.
 * @param {string} digits
 */
function year(digits) {
  if (!/^1[1-9]\d\d$/.test(digits)) return digits;
  const rest = Number(digits.slice(2));
  return `${digits.slice(0, 2)} hundert${rest === 0 ? '' : ` ${rest}`}`;
}

const IS_YEAR = new RegExp(
  `(?:${MONTH}|Jahre?s?|seit|von|bis|ab|vor|nach|um|anno|Sommer|Winter|Herbst|Frühling|[–-])\\s*$`,
  'iu',
);

/** @param {RegExpExecArray} match */
function time([, hour = '', minute = '']) {
  if (+hour > 24 || +minute > 59) return undefined;
  return `${+hour === 1 ? 'ein' : +hour} Uhr${+minute === 0 ? '' : ` ${+minute}`}`;
}

/** @type {readonly import('./reading.mjs').Rule[]} */
export const GERMAN = [
  ...dates({
    signs: './',
    short: pattern('(\\d{1,2})\\.(\\d{1,2})\\.'),
    after: /(?:^|\s)(?:am|vom|zum|bis|ab|seit|der|dem|den)\s$/iu,
    say: (day, month, digits, before) =>
      [ordinal(day, endingAfter(before) ?? 'er'), MONTHS[month - 1], digits && year(digits)]
        .filter(Boolean)
        .join(' '),
  }),
  // Telephone numbers, digit by digit
  [
    /(?<![\p{L}\d.,/-])(?:\+\d{1,3}|0\d{1,5})(?:[ /-]\d{2,8}){1,5}(?![\d\p{L}]|[.,/-]\d)/gu,
    ([number]) => {
      const digits = number.replaceAll(/\D/g, '');
      if (digits.length < 7) return undefined;
      return `${number.startsWith('+') ? 'plus ' : ''}${digits.split('').join(' ')}`;
    },
  ],
  [pattern('(\\d{1,2}):(\\d\\d)(?:_Uhr)?(?!:)'), time],
  [pattern('(\\d{1,2})\\.(\\d\\d)_Uhr'), time],
  [pattern('1_Uhr'), () => 'ein Uhr'],
  [pattern('(\\d{1,3}):(\\d{1,3})(?!:)'), ([, one, other]) => `${one} zu ${other}`],
  ...money(
    {
      '€': 'ein Euro|Euro|ein Cent|Cent',
      EUR: 'ein Euro|Euro|ein Cent|Cent',
      Euro: 'ein Euro|Euro|ein Cent|Cent',
      $: 'ein Dollar|Dollar|ein Cent|Cent',
      US$: 'ein Dollar|Dollar|ein Cent|Cent',
      USD: 'ein Dollar|Dollar|ein Cent|Cent',
      '£': 'ein Pfund|Pfund|ein Penny|Pence',
      GBP: 'ein Pfund|Pfund|ein Penny|Pence',
      CHF: 'ein Franken|Franken|ein Rappen|Rappen',
      Fr: 'ein Franken|Franken|ein Rappen|Rappen',
    },
    {
      'Mio.': 'eine Million|Millionen',
      'Mrd.': 'eine Milliarde|Milliarden',
      'Tsd.': 'tausend|tausend',
      Millionen: 'eine Million|Millionen',
      Milliarden: 'eine Milliarde|Milliarden',
    },
    { and: '', of: (scale, name) => `${scale} ${name}` },
  ),
  units({
    km: 'ein Kilometer|Kilometer',
    m: 'ein Meter|Meter',
    cm: 'ein Zentimeter|Zentimeter',
    mm: 'ein Millimeter|Millimeter',
    'm²': 'ein Quadratmeter|Quadratmeter',
    'km²': 'ein Quadratkilometer|Quadratkilometer',
    'm³': 'ein Kubikmeter|Kubikmeter',
    'km/h': 'ein Kilometer pro Stunde|Kilometer pro Stunde',
    'm/s': 'ein Meter pro Sekunde|Meter pro Sekunde',
    ha: 'ein Hektar|Hektar',
    kg: 'ein Kilogramm|Kilogramm',
    g: 'ein Gramm|Gramm',
    mg: 'ein Milligramm|Milligramm',
    t: 'eine Tonne|Tonnen',
    l: 'ein Liter|Liter',
    ml: 'ein Milliliter|Milliliter',
    h: 'eine Stunde|Stunden',
    'Std.': 'eine Stunde|Stunden',
    min: 'eine Minute|Minuten',
    'Min.': 'eine Minute|Minuten',
    s: 'eine Sekunde|Sekunden',
    'Sek.': 'eine Sekunde|Sekunden',
    '°C': 'ein Grad Celsius|Grad Celsius',
    W: 'ein Watt|Watt',
    kW: 'ein Kilowatt|Kilowatt',
    kWh: 'eine Kilowattstunde|Kilowattstunden',
    V: 'ein Volt|Volt',
    // espeak-ng says the y of `Byte`.
    GB: 'ein Gigabait|Gigabait',
    MB: 'ein Megabait|Megabait',
    kB: 'ein Kilobait|Kilobait',
    TB: 'ein Terabait|Terabait',
    Hz: 'ein Hertz|Hertz',
    ct: 'ein Cent|Cent',
    '‰': 'ein Promille|Promille',
    'Mio.': 'eine Million|Millionen',
    'Mrd.': 'eine Milliarde|Milliarden',
    'Tsd.': 'tausend|tausend',
  }),
  // Ordinals: `3. Mai`, `im 3. Stock`
  [
    new RegExp(`(?<![\\p{L}\\d.,])(\\d{1,3})\\.(?=\\s${MONTH}(?!\\p{L}))`, 'gu'),
    ([, number = ''], before) => ordinal(+number, endingAfter(before) ?? 'er'),
  ],
  [
    /(?<![\p{L}\d.,])(\d{1,3})\.(?=\s(?:(?:und|bis|oder|sowie)\s\d{1,3}\.\s)?\p{L})/gu,
    ([, number = ''], before) => {
      const ending = endingAfter(before);
      return ending === undefined ? undefined : ordinal(+number, ending);
    },
  ],
  // Years before 2000, unless a noun follows: `1500 Kisten`
  [
    /(?<![\p{L}\d.,:/+])1[1-9]\d\d(?=er(?!\p{L})|(?![\p{L}\d%€$]|[.,:/]\d|\s[%€$\d]))/gu,
    ([digits], before) => (IS_YEAR.test(before) ? year(digits) : undefined),
  ],
  [
    /(?<![\p{L}\d.,:/+])1[1-9]\d\d(?=er(?!\p{L})|(?![\p{L}\d%€$]|[.,:/]\d|\s[%€$\d]|\s\p{Lu}))/gu,
    ([digits]) => year(digits),
  ],
  ranges('bis'),
  [/(?<=\d)½/gu, () => ' ein halb'],
  [/½/gu, () => 'ein halb'],
  [/¼/gu, () => 'ein Viertel'],
  [/¾/gu, () => 'drei Viertel'],
  [/§§(?=\s?\d)/gu, () => 'Paragraphen'],
  ...abbreviations({
    'z. B.': 'zum Beispiel',
    'd. h.': 'das heißt',
    'u. a.': 'unter anderem',
    'i. d. R.': 'in der Regel',
    'n. Chr.': 'nach Christus',
    'v. Chr.': 'vor Christus',
    'o. k.': 'okay',
    'z. T.': 'zum Teil',
    'u. U.': 'unter Umständen',
    'usw.': 'und so weiter',
    'bzw.': 'beziehungsweise',
    'ca.': 'zirka',
    'evtl.': 'eventuell',
    'ggf.': 'gegebenenfalls',
    'inkl.': 'inklusive',
    'vgl.': 'vergleiche',
    'sog.': 'sogenannt',
    'd. Gr.': 'der Große',
    'Art.': ['Artikel', '\\d'],
    'Nr.': ['Nummer', '\\d'],
    'S.': ['Seite', '\\d'],
    'Bd.': ['Band', '\\d'],
    'Kap.': ['Kapitel', '\\d'],
    'Abb.': ['Abbildung', '\\d'],
    'Tel.': 'Telefon',
    'Prof.': 'Professor',
    'Dr.': 'Doktor',
    'Hr.': ['Herr', '\\p{Lu}'],
    'Fr.': ['Frau', '\\p{Lu}\\p{Ll}'],
    'Fa.': ['Firma', '\\p{Lu}'],
    'Jh.': 'Jahrhundert',
  }),
  [/(?<=\p{L})str\.(?=\s\d)/gu, () => 'straße'],
];
