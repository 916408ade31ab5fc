import type { Region } from './numbers.ts';
import { cardinal, decimal, ordinal, plural, table, twoDigits, words, year } from './numbers.ts';
import type { Place } from './tokens.ts';
import { nextWord, previousWord } from './tokens.ts';

const MONTHS = words(`January February March April May June July August September October November
 December`);
const DAYS = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' ');

/** Full names of months and weekdays, indexed by their abbreviation in lower case. */
export const SHORT_DATES: ReadonlyMap<string, string> = new Map([
  ...[...MONTHS, ...DAYS].map((name) => [name.slice(0, 3).toLowerCase(), name] as const),
  ...table('sept=September|tues=Tuesday|thur=Thursday|thurs=Thursday'),
]);

/**
 * Returns the full name of a month for its name or abbreviation, such as `March` for `Mar`. Returns undefined for any
 * other word, and for words in lower case.
 */
export function monthNamed(word: string): string | undefined {
  if (!/^[A-Z][a-zA-Z]{2,8}$/.test(word)) return undefined;
  const name = word.charAt(0) + word.slice(1).toLowerCase();
  const long = MONTHS.includes(name) ? name : SHORT_DATES.get(name.toLowerCase());
  return long !== undefined && MONTHS.includes(long) ? long : undefined;
}

// After these words, a four-digit number is a year, even before a plural.
const YEAR_PREPOSITION =
  /^(?:in|since|until|till|by|from|before|after|during|around|circa|year|early|late|mid|of|©|to|–)$/i;
const ERA = /^(?:AD|BC|CE|BCE|A\.D|B\.C|C\.E)$/;
const COUNTED =
  /^(?:people|men|women|children|users|times|words|lines|files|items|pages|points|votes|copies|jobs|calories|students|employees|members|dollars|euros|pounds|years|days|hours|minutes|seconds|miles|meters|metres|feet|steps|soldiers|residents|homes|cars|tons|tonnes|characters|requests|rows|records|cases|deaths|patients|seats|bytes|square|percent|tests|different|more|other|acres|watts|volts|units|books|songs|guests|workers|voters|delegates|km|kg|g|m|mm|cm|ml|mg|lb|lbs|ft|mi|MB|GB|kB|ms|calls|errors|messages|tokens|degrees|shares|entries|bottles|rooms|species|islands|troops|years'|companies|trees|animals|horses|apples|bricks|pieces|players|fans|spectators|passengers|vehicles|customers|messages|hits|objects|samples|images|photos|vertices|nodes|participants|respondents)$/;

/**
 * Returns true if a four-digit number is read as a year (`nineteen eighty-four`), and false if it is read as a count.
 */
export function isYear(digits: string, place: Place): boolean {
  const value = Number(digits);
  const before = previousWord(place);
  const isExpected =
    YEAR_PREPOSITION.test(before) || monthNamed(before) !== undefined || ERA.test(nextWord(place));
  if (value < 1000 || value > 2199) return false;
  if (value < 1100 || value > 2099) return isExpected;
  return isExpected || !COUNTED.test(nextWord(place));
}

/**
 * Returns the spoken form of a day next to the name of a month, such as `3` in `March 3`. Returns undefined for other
 * digits.
 */
export function dayBesideMonth(digits: string, place: Place): string | undefined {
  const { region } = place;
  if (digits.length > 2 || Number(digits) > 31 || Number(digits) === 0) return undefined;
  const isRange = /^[–-]$/.test(previousWord(place)) && /^\d/.test(previousWord(place, 2));
  if (isRange && monthNamed(previousWord(place, 3)) !== undefined) return ordinal(digits, region);
  if (nextWord(place) === '–' && monthNamed(nextWord(place, 3)) !== undefined) {
    return `the ${ordinal(digits, region)}`;
  }
  const after = monthNamed(nextWord(place));
  if (after !== undefined) {
    const [before, following] = [previousWord(place), nextWord(place, 2)];
    const isCount =
      after === 'May' && /^(?:be|not|have|also|well|need|take|still)$/.test(following);
    if (isCount) return undefined;
    return `${/^(?:the|–|to|and)$/i.test(before) ? '' : 'the '}${ordinal(digits, region)} of`;
  }
  if (monthNamed(previousWord(place)) === undefined) return undefined;
  if (COUNTED.test(nextWord(place))) return undefined;
  return `${region === 'GB' ? 'the ' : ''}${ordinal(digits, region)}`;
}

/**
 * Returns the spoken form of a date: `March third` in the US, `the third of March` in Great Britain. The year follows
 * if it is given. Returns undefined if the month or the day is out of range.
 */
export function readDate(
  given: { readonly day: number; readonly month: number; readonly year: string | undefined },
  region: Region,
): string | undefined {
  const { day, month, year: short } = given;
  const name = MONTHS[month - 1];
  if (name === undefined || day < 1 || day > 31) return undefined;
  const spoken =
    region === 'GB' ? `the ${ordinal(day, region)} of ${name}` : `${name} ${ordinal(day, region)}`;
  if (short === undefined) return spoken;
  const full = short.length > 2 ? short : `${Number(short) < 50 ? '20' : '19'}${short}`;
  return `${spoken}, ${year(full, region)}`;
}

// For the last two patterns, the region decides which part is the day.
const DATES: readonly RegExp[] = [
  /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)(?:[T_](?<hour>\d\d):(?<minute>\d\d)(?::(?<second>\d\d)(?:[.,]\d{1,9})?)?(?<zone>Z|[+-]\d\d(?::?\d\d)?)?)?$/,
  /^(?<day>\d\d?)[/-](?<name>[A-Z][a-z]{2})[/-](?<year>\d{4}|\d\d)(?::(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d))?$/,
  /^(?<year>\d{4})([/.])(?<month>\d\d?)\2(?<day>\d\d?)$/,
  /^(?<day>\d\d?)\.(?<month>\d\d?)\.(?<year>\d{4})$/,
  /^(?<left>\d\d?)(?:\/(?<right>\d\d?)\/|-(?<right2>\d\d?)-(?=\d{4}))(?<year>\d{4}|\d\d)$/,
  /^(?<left>\d\d?)\/(?<right>\d\d?)$/,
];
const BEFORE_A_DATE = /^(?:on|by|since|until|till|before|after|dated|due|from)$/i;

/** Returns the spoken form of a date in digits, such as `2024-03-15` or `03/04/2024`. */
export function readNumericDate(word: string, place: Place): string | undefined {
  const { region } = place;
  const found = DATES.map((pattern) => pattern.exec(word)?.groups).find((one) => one !== undefined);
  if (found === undefined) return undefined;
  const { hour, left, minute = '', name = '', second, year: written, zone } = found;
  const right = Number(found['right'] ?? found['right2']);
  const isDayFirst =
    written === undefined ? region === 'GB' : Number(left) > 12 || (region === 'GB' && right <= 12);
  const [first, last] = isDayFirst ? [Number(left), right] : [right, Number(left)];
  const isClear = region === 'GB' ? first > 16 && last <= 12 : first > 16;
  // `from 8/10 to 3/10`
  const isShare = /^(?:to|–|-)$/.test(nextWord(place)) && nextWord(place, 2).endsWith(`/${right}`);
  if (written === undefined && isShare) return undefined;
  if (written === undefined && !isClear && !BEFORE_A_DATE.test(previousWord(place)))
    return undefined;
  const day = left === undefined ? Number(found['day']) : first;
  const named = MONTHS.indexOf(monthNamed(name) ?? '') + 1;
  const month = left === undefined ? Number(found['month'] ?? named) : last;
  const date = readDate({ day, month, year: written }, region);
  if (date === undefined || hour === undefined) return date;
  const offset = zone === undefined ? '' : `, ${zoneOffset(zone, region)}`;
  return `${date}, at ${clock(hour, minute, second, region)}${offset}`;
}

function zoneOffset(zone: string, region: Region): string {
  if (zone === 'Z') return 'U T C';
  const sign = zone.startsWith('-') ? 'minus' : 'plus';
  const minutes = Number(zone.slice(3).replace(':', ''));
  const rest = minutes === 0 ? '' : ` ${cardinal(minutes, region)}`;
  return `U T C ${sign} ${cardinal(zone.slice(1, 3), region)}${rest}`;
}

const LAP = /^(?:([1-9]\d?):)?(\d|[1-5]\d):(\d\d)(\.\d{1,3})$/;

/** Returns a measured time with parts of a second: `3:43.13` → `three forty-three point one three`. */
function readLap(word: string, { region }: Place): string | undefined {
  const [, hours, minutes = '', seconds = '', part = ''] = LAP.exec(word) ?? [];
  if (part === '') return undefined;
  const first = hours ?? minutes;
  const rest = hours === undefined ? [seconds] : [minutes, seconds];
  const start = Number(first) === 0 ? [] : [cardinal(first, region)];
  const time = [
    ...start,
    ...rest.map((one) => (start.length === 0 ? cardinal(one, region) : twoDigits(one))),
  ];
  return `${time.join(' ')} ${decimal(part, region)}`;
}

const TIME = /^(\d\d?):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?([ap]\.?m\.?)?$/i;
const HOUR = /^(\d\d?)(?:\.(\d\d))?([ap])\.?m\.?$/i;

function readTime(word: string, place: Place): string | undefined {
  const { region } = place;
  const [, hours, minutes = '00', half] = HOUR.exec(word) ?? [];
  if (half !== undefined && Number(hours) < 13) {
    const rest = minutes === '00' ? '' : ` ${twoDigits(minutes)}`;
    return `${cardinal(hours ?? '', region)}${rest} ${half.toUpperCase()} M`;
  }
  const [, hour = '', past = '', second, marked] = TIME.exec(word) ?? [];
  if (hour === '' || Number(hour) > 24 || Number(past) > 59 || Number(second ?? 0) > 59)
    return undefined;
  const next = marked ?? nextWord(place);
  const noon = /^[ap]\.?m/i.exec(next)?.[0].charAt(0).toUpperCase();
  if (noon !== undefined) {
    const time = past === '00' ? cardinal(hour, region) : clock(hour, past, second, region);
    return marked === undefined ? time : `${time} ${noon} M`;
  }
  if (
    second === undefined ||
    (hour.length > 1 && hour !== '00') ||
    /^\d{4}-/.test(previousWord(place))
  ) {
    return clock(hour, past, second, region);
  }
  return duration([hour, past, second], region);
}

function clock(hour: string, past: string, second: string | undefined, region: Region): string {
  const full =
    Number(hour) > 12 ? `${cardinal(hour, region)} hundred` : `${cardinal(hour, region)} o'clock`;
  const whole = Number(hour) === 0 ? 'midnight' : full;
  const time = past === '00' ? whole : `${cardinal(hour, region)} ${twoDigits(past)}`;
  if (second === undefined || Number(second) === 0) return time;
  return `${time} and ${count(second, 'second', region)}`;
}

function duration(amounts: readonly string[], region: Region): string {
  const parts = amounts.flatMap((amount, at) =>
    Number(amount) === 0 ? [] : [count(amount, ['hour', 'minute', 'second'][at] ?? '', region)],
  );
  const last = parts.pop() ?? 'zero seconds';
  return parts.length === 0 ? last : `${parts.join(' ')} and ${last}`;
}

function count(digits: string, unit: string, region: Region): string {
  return `${cardinal(digits, region)} ${unit}${Number(digits) === 1 ? '' : 's'}`;
}

const DECADE = /^(['’‘]?)(\d\d\d0|\d00|\d0)['’]?s$/;
const BEFORE_DECADE =
  /^(?:the|mid|late|early|his|her|their|my|your|our|of|and|to|in|or|–|roaring|swinging)?$/i;

function readDecade(word: string, place: Place): string | undefined {
  const { region } = place;
  const [, mark, digits = ''] = DECADE.exec(word) ?? [];
  const before = digits.length === 3 ? /^(?:the|early|late|mid)$/i : BEFORE_DECADE;
  const isSeconds = mark === '' && digits.length < 4 && !before.test(previousWord(place));
  if (digits === '' || isSeconds) return undefined;
  return plural(digits.length < 4 ? cardinal(digits, region) : year(digits, region));
}

const LASTED = /^(?=\d+[hm]\d)(?:(\d{1,3})h)?(?:(\d{1,3})m)?(?:(\d{1,3})s)?$/;

function readDuration(word: string, place: Place): string | undefined {
  const isBesideTime = /^\d{1,3}h$/.test(previousWord(place)) || /^\d\d?s$/.test(nextWord(place));
  const minutes = isBesideTime ? /^(\d{1,3})m$/.exec(word)?.[1] : undefined;
  if (minutes !== undefined) return count(minutes, 'minute', place.region);
  const [, hours = '0', past = '0', second = '0'] = LASTED.exec(word) ?? [];
  const amounts = [hours, past, second];
  return amounts.some((amount) => amount !== '0') ? duration(amounts, place.region) : undefined;
}

/**
 * Functions that return the spoken form of a date, a time or a duration. They return undefined for
 * any other word.
 */
export const DATE_RULES = [readNumericDate, readLap, readTime, readDecade, readDuration];
