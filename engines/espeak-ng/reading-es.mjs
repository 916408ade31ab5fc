// Spanish that espeak-ng reads wrong: the gender of numbers, ordinals, dates, times, money, units,
// minus signs, ranges, Roman numbers and abbreviations.

import {
  abbreviations,
  dates,
  minus,
  money,
  pattern,
  ranges,
  romanValue,
  units,
} from './reading-parts.mjs';

/** @typedef {import('./reading.mjs').Rule} Rule */

const MONTHS =
  'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre'.split(
    ' ',
  );

const FIRST = ' primero segundo tercero cuarto quinto sexto séptimo octavo noveno'.split(' ');
const TENS =
  ' décimo vigésimo trigésimo cuadragésimo quincuagésimo sexagésimo septuagésimo octogésimo nonagésimo'.split(
    ' ',
  );
const HUNDREDS =
  '  doscientas trescientas cuatrocientas quinientas seiscientas setecientas ochocientas novecientas'.split(
    ' ',
  );

/**
 * Returns an ordinal below 100 that ends in o or a; undefined for other numbers.
 * @param {number} number
 */
function ordinal(number, ending = 'o') {
  if (number < 1 || number > 99) return undefined;
  const words = [TENS[Math.floor(number / 10)], FIRST[number % 10]].filter(Boolean);
  return words.join(' ').replaceAll(/o(?= |$)/g, ending);
}

/**
 * Returns an ordinal before a noun: `primer`, `tercer`.
 * @param {number} number
 */
function shortened(number) {
  return ordinal(number)?.replace(/(primer|tercer)o$/, '$1');
}

/** Nouns that are feminine, unless `MASCULINE` says otherwise. */
const FEMININE = /(?:as|ciones|siones|dades|tudes|mujeres|veces|noches|tardes|partes)$/u;
const MASCULINE = /^(?:días|mapas|\p{L}{0,15}(?:emas|amas|omas|istas|etas))$/u;

/** Words in -s that are no nouns, and verbs. */
const NO_NOUN =
  /^(?:antes|después|entonces|menos|además|unos|unas|ellos|ellas|estos|estas|esos|esas|apenas|mientras|todos|todas|otros|otras|muchos|muchas|nuestros|nuestras|\p{L}{1,12}(?<!gr)[aei]mos)$/u;

/**
 * Reads a number before a noun with the gender of the noun: `21 libros`, `200 casas`.
 * @param {readonly string[]} match
 */
function counted([written = '', number = '', noun = '']) {
  const digits = number.replaceAll(/\D/g, '');
  if (NO_NOUN.test(noun) || /^(?:1[5-9]|20)\d\d$/.test(number)) return undefined;
  const isFeminine = FEMININE.test(noun) && !MASCULINE.test(noun);
  const ones = /(?<!1)1$/.test(digits) ? Number(digits.slice(-2)) : 0;
  const hundred = Number(digits.at(-3) ?? 0);
  if (ones === 0 && (hundred < 2 || !isFeminine)) return undefined;
  const thousands = Number(digits.slice(0, -3));
  return [
    thousands > 1 ? thousands : '',
    thousands > 0 ? 'mil' : '',
    hundred === 1 ? 'ciento' : isFeminine ? HUNDREDS[hundred] : hundred * 100 || '',
    ones === 0 ? Number(digits.slice(-2)) || '' : one(ones, isFeminine),
    written.slice(number.length + 1),
  ]
    .filter((word) => word !== '')
    .join(' ');
}

/**
 * @param {number} number
 * @param {boolean} isFeminine
 */
function one(number, isFeminine) {
  if (number === 21) return isFeminine ? 'veintiuna' : 'veintiún';
  return `${number === 1 ? '' : `${number - 1} y `}${isFeminine ? 'una' : 'un'}`;
}

/** @param {RegExpExecArray} match */
function time([, hour = '', minute = '0']) {
  if (+hour > 24 || +minute > 59) return undefined;
  const minutes = +minute === 0 ? '' : ` ${minute}`;
  return +hour === 1 ? `1${minutes} hora` : `${+hour}${minutes} horas`;
}

/**
 * @param {RegExpExecArray} match
 * @param {string} before
 */
function roman([, digits = ''], before) {
  const number = romanValue(digits);
  if (number === undefined || digits === 'X') return undefined;
  const isFeminine = /(?:a|Isabel) $/u.test(before);
  return number > 10 ? `${number}` : ordinal(number, isFeminine ? 'a' : 'o');
}

/**
 * Adds the gender of the noun to the readings of a rule: `21 euros`.
 * @param {Rule} rule
 * @returns {Rule}
 */
function agreeing([written, read]) {
  return [
    written,
    (match, before) =>
      read(match, before)?.replace(
        /^(\d{1,6}) (\p{Ll}{2,20}s)(?!\p{L})/u,
        (found, number, noun) => counted([found, number, noun]) ?? found,
      ),
  ];
}

/** @type {readonly Rule[]} */
export const SPANISH = [
  ...dates({
    signs: './-',
    short: pattern('(\\d{1,2})/(\\d{1,2})(?!/)'),
    after: /(?:^|\s)(?:el|del|al)\s$/iu,
    say: (day, month, year) => [day, MONTHS[month - 1], year].filter(Boolean).join(' de '),
  }),
  agreeing([pattern('(\\d{1,2})[:.](\\d\\d)_h(?:s|oras)?\\.?'), time]),
  agreeing([pattern('(\\d{1,2}):(00)(?!:)'), time]),
  [
    /(?<=\blas? )(2?)1:(\d\d)(?![\d:])/gu,
    ([, twenty = '', minute]) => `${twenty && 'veinti'}una ${minute}`,
  ],
  [/(?<![\p{L}\d.,])1 (?=[mb]illón)/gu, () => 'un '],
  ...money(
    {
      '€': 'un euro|euros|un céntimo|céntimos',
      EUR: 'un euro|euros|un céntimo|céntimos',
      $: 'un dólar|dólares|un centavo|centavos',
      US$: 'un dólar|dólares|un centavo|centavos',
      USD: 'un dólar|dólares|un centavo|centavos',
      '£': 'una libra|libras|un penique|peniques',
      GBP: 'una libra|libras|un penique|peniques',
      CHF: 'un franco|francos|un céntimo|céntimos',
    },
    {
      M: 'un millón|millones',
      'mil M': 'mil millones|mil millones',
      'mill.': 'un millón|millones',
      millón: 'un millón|millones',
      millones: 'un millón|millones',
    },
    { and: 'con ', of: (scale, name) => `${scale} de ${name}` },
  ).map(agreeing),
  agreeing(
    units({
      km: 'un kilómetro|kilómetros',
      m: 'un metro|metros',
      cm: 'un centímetro|centímetros',
      mm: 'un milímetro|milímetros',
      'm²': 'un metro cuadrado|metros cuadrados',
      'km²': 'un kilómetro cuadrado|kilómetros cuadrados',
      'm³': 'un metro cúbico|metros cúbicos',
      'km/h': 'un kilómetro por hora|kilómetros por hora',
      'm/s': 'un metro por segundo|metros por segundo',
      ha: 'una hectárea|hectáreas',
      kg: 'un kilogramo|kilogramos',
      g: 'un gramo|gramos',
      mg: 'un miligramo|miligramos',
      t: 'una tonelada|toneladas',
      l: 'un litro|litros',
      ml: 'un mililitro|mililitros',
      cl: 'un centilitro|centilitros',
      h: 'una hora|horas',
      min: 'un minuto|minutos',
      s: 'un segundo|segundos',
      '°C': 'un grado Celsius|grados Celsius',
      W: 'un vatio|vatios',
      kW: 'un kilovatio|kilovatios',
      kWh: 'un kilovatio hora|kilovatios hora',
      V: 'un voltio|voltios',
      GB: 'un gigabyte|gigabytes',
      MB: 'un megabyte|megabytes',
      TB: 'un terabyte|terabytes',
      Hz: 'un hercio|hercios',
      '‰': 'un por mil|por mil',
    }),
  ),
  // Ordinals: `2.ª`, `5º`, `1er`
  [
    /(?<![\p{L}\d.,])(\d{1,2})\.?([ºª])/gu,
    ([, number = '', sign]) => (sign === 'ª' ? ordinal(+number, 'a') : ordinal(+number)),
  ],
  [/(?<![\p{L}\d.,])([13])\.?er(?!\p{L})/gu, ([, number = '']) => shortened(+number)],
  [
    /(?<![\p{L}\d.,])(\d{1,3}(?:[. \u00a0\u202f]\d{3})?|\d{4,6}) (\p{Ll}{3,20}s)(?!\p{L})/gu,
    counted,
  ],
  // Numbers grouped by spaces, unless they may be telephone numbers
  [
    /(?<!\p{L}|[\d.,+][ ]?)\d{1,2}(?:[ \u00a0\u202f]\d{3}){1,4}(?=\D|$)(?!,\d)(?! \d)/gu,
    ([number]) => number.replaceAll(/\D/g, ''),
  ],
  [/(?<=\p{Lu}\p{Ll}{2,15} )([IVX]{1,6})(?![\p{L}\d]|\.\p{L})/gu, roman],
  ranges('a'),
  minus('menos'),
  [/(?<=\d)½/gu, () => ' y medio'],
  [/½/gu, () => 'medio'],
  [/¼/gu, () => 'un cuarto'],
  [/¾/gu, () => 'tres cuartos'],
  [/(?<=\s)&(?=\s)/gu, () => 'y'],
  [/(?<=^|[.,;:(]\s|\s(?:y|e|a|de|con|por|para)\s)D\.(?=\s\p{Lu}\p{Ll})/gu, () => 'don'],
  ...abbreviations({
    'p. ej.': 'por ejemplo',
    'por ej.': 'por ejemplo',
    'Prof.': 'profesor',
    'a. C.': 'antes de Cristo',
    'd. C.': 'después de Cristo',
    'EE. UU.': 'Estados Unidos',
    'Srta.': 'señorita',
    'Sres.': 'señores',
    'Dra.': 'doctora',
    'Uds.': 'ustedes',
    'Dña.': 'doña',
    'n.º': ['número', '\\d'],
    nº: ['número ', '\\d'],
    'núm.': ['número', '\\d'],
    'pág.': ['página', '\\d'],
    'págs.': ['páginas', '\\d'],
    'cap.': ['capítulo', '\\d'],
    'art.': ['artículo', '\\d'],
    's.': ['siglo', '[IVX]'],
    'Avda.': 'avenida',
    'Av.': ['avenida', '\\p{Lu}'],
    'C/': ['calle ', '\\p{Lu}'],
    'aprox.': 'aproximadamente',
    'tel.': ['teléfono', '\\d'],
  }),
];
