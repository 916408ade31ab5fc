// French that espeak-ng reads wrong: ordinals, dates, times, money, units, minus signs, ranges, Roman
// numbers and abbreviations.

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

const MONTHS =
  'janvier février mars avril mai juin juillet août septembre octobre novembre décembre'.split(' ');

/** Ordinals without their ending. */
const FIRST =
  ' un deux trois quatr cinqu six sept huit neuv dix onz douz treiz quatorz quinz seiz dix-sept dix-huit dix-neuv'.split(
    ' ',
  );
const TENS = '  vingt trent quarant cinquant soixant soixant quatre-vingt quatre-vingt'.split(' ');

/** @param {number} number */
function ordinal(number) {
  const rest = number % 100;
  const hundreds = number - rest;
  if (number === 100) return 'centième';
  if (rest === 0) return `${number} ième`;
  return `${hundreds === 0 ? '' : `${hundreds} `}${belowHundred(rest)}ième`;
}

/** @param {number} number */
function belowHundred(number) {
  if (number < 20) return FIRST[number];
  const tens = Math.floor(number / 10);
  // 70 to 79 and 90 to 99 count on from 60 and 80.
  const rest = tens === 7 || tens === 9 ? (number % 10) + 10 : number % 10;
  if (rest === 0) return TENS[tens];
  const name = `${TENS[tens]}${tens < 8 && tens > 2 ? 'e' : ''}`;
  return `${name}${rest % 10 === 1 && tens < 8 ? ' et ' : '-'}${FIRST[rest]}`;
}

/**
 * Returns the number of hours with its noun.
 * @param {number} hour
 */
function hours(hour) {
  if (hour <= 1) return hour === 1 ? 'une heure' : '0 heure';
  return hour === 21 ? 'vingt et une heures' : `${hour} heures`;
}

/** @param {RegExpExecArray} match */
function time([, hour = '', minute = '0']) {
  if (+hour > 24 || +minute > 59) return undefined;
  return `${hours(+hour)}${+minute === 0 ? '' : ` ${+minute}`}`;
}

/** @type {readonly import('./reading.mjs').Rule[]} */
export const FRENCH = [
  ...dates({
    signs: './',
    short: pattern('(\\d{1,2})/(\\d{1,2})(?!/)'),
    after: /(?:^|\s)(?:le|du|au)\s$/iu,
    say: (day, month, year) =>
      [day === 1 ? 'premier' : day, MONTHS[month - 1], year].filter(Boolean).join(' '),
  }),
  [pattern('(\\d{1,2})_h_(\\d\\d)'), time],
  [pattern('(\\d{1,2})_h'), time],
  [pattern('(\\d{1,2}):(\\d\\d)(?!:)'), time],
  ...money(
    {
      '€': 'un euro|euros|un centime|centimes',
      EUR: 'un euro|euros|un centime|centimes',
      $: 'un dollar|dollars|un cent|cents',
      US$: 'un dollar|dollars|un cent|cents',
      USD: 'un dollar|dollars|un cent|cents',
      '£': 'une livre|livres|un penny|pence',
      GBP: 'une livre|livres|un penny|pence',
      CHF: 'un franc|francs|un centime|centimes',
    },
    {
      k: 'mille|mille',
      M: 'un million|millions',
      Md: 'un milliard|milliards',
      million: 'un million|millions',
      millions: 'un million|millions',
      milliard: 'un milliard|milliards',
      milliards: 'un milliard|milliards',
    },
    {
      and: '',
      of: (scale, name) =>
        `${scale}${scale.endsWith('mille') ? ' ' : /^[aeiou]/.test(name) ? " d'" : ' de '}${name}`,
    },
  ),
  units(
    {
      km: 'un kilomètre|kilomètres',
      m: 'un mètre|mètres',
      cm: 'un centimètre|centimètres',
      mm: 'un millimètre|millimètres',
      'm²': 'un mètre carré|mètres carrés',
      'km²': 'un kilomètre carré|kilomètres carrés',
      'm³': 'un mètre cube|mètres cubes',
      'km/h': 'un kilomètre par heure|kilomètres par heure',
      'm/s': 'un mètre par seconde|mètres par seconde',
      ha: 'un hectare|hectares',
      kg: 'un kilogramme|kilogrammes',
      g: 'un gramme|grammes',
      mg: 'un milligramme|milligrammes',
      t: 'une tonne|tonnes',
      l: 'un litre|litres',
      L: 'un litre|litres',
      ml: 'un millilitre|millilitres',
      cl: 'un centilitre|centilitres',
      min: 'une minute|minutes',
      s: 'une seconde|secondes',
      '°C': 'un degré Celsius|degrés Celsius',
      W: 'un watt|watts',
      kW: 'un kilowatt|kilowatts',
      kWh: 'un kilowattheure|kilowattheures',
      V: 'un volt|volts',
      Go: 'un gigaoctet|gigaoctets',
      Mo: 'un mégaoctet|mégaoctets',
      ko: 'un kilooctet|kilooctets',
      To: 'un téraoctet|téraoctets',
      Hz: 'un hertz|hertz',
      '‰': 'un pour mille|pour mille',
    },
    (number) => /^[01](?:,|$)/.test(number),
  ),
  // Ordinals: `2e`, `3ème`, `1re`, `XIXe`
  [/(?<![\p{L}\d.,])1(?:re|ère)(s?)(?![\p{L}\d])/gu, ([, plural]) => `première${plural}`],
  [
    /(?<![\p{L}\d.,])2n?de?(?=s?(?![\p{L}\d]))/gu,
    ([written]) => (written.endsWith('e') ? 'seconde' : 'second'),
  ],
  [
    /(?<![\p{L}\d.,])(\d{1,3})(?:e|è|è?me|ième)(?=s?(?![\p{L}\d]))/gu,
    ([, number = '']) => ordinal(+number),
  ],
  [
    /(?<![\p{L}\d.])([IVX]{1,6})(?:e|è?me|er)(?![\p{L}\d])/gu,
    ([, digits = '']) => {
      const number = romanValue(digits);
      return number === undefined ? undefined : number === 1 ? 'premier' : ordinal(number);
    },
  ],
  [
    /(?<=(?:\p{Lu}\p{Ll}{2,15}|chapitre|tome|acte|livre|partie|volume) )([IVX]{1,6})(?![\p{L}\d]|\.\p{L})/gu,
    ([, digits = '']) => {
      const number = romanValue(digits);
      return digits === 'I'
        ? 'premier'
        : digits === 'V' || digits.length > 1
          ? number?.toString()
          : undefined;
    },
  ],
  // Telephone numbers
  [pattern('\\d\\d(?:\\.\\d\\d){4}'), ([number]) => number.replaceAll('.', ' ')],
  [/(?<=\s)&(?=\s)/gu, () => 'et'],
  [pattern('(\\d{1,3})/(\\d{1,3})(?!/)'), ([, part, whole]) => `${part} sur ${whole}`],
  ranges('à'),
  minus('moins'),
  [/(?<=\d)½/gu, () => ' et demi'],
  [/½/gu, () => 'un demi'],
  [/¼/gu, () => 'un quart'],
  [/¾/gu, () => 'trois quarts'],
  ...abbreviations({
    'p. ex.': 'par exemple',
    'c.-à-d.': "c'est-à-dire",
    'av. J.-C.': 'avant Jésus-Christ',
    'apr. J.-C.': 'après Jésus-Christ',
    'M.': ['Monsieur', '\\p{Lu}'],
    'MM.': ['Messieurs', '\\p{Lu}'],
    Mlle: 'Mademoiselle',
    Mmes: 'Mesdames',
    Me: ['Maître', '\\p{Lu}'],
    's. v. p.': "s'il vous plaît",
    no: ['numéro', '\\d'],
    'n°': ['numéro ', '\\d'],
    nº: ['numéro ', '\\d'],
    'p.': ['page', '\\d'],
    'pp.': ['pages', '\\d'],
    'chap.': 'chapitre',
    'art.': ['article', '\\d'],
    'env.': 'environ',
    'av.': ['avenue', '\\p{Lu}'],
    'tél.': 'téléphone',
  }),
];
