import { DATE_RULES, dayBesideMonth, isYear, monthNamed } from './dates.ts';
import type { Region } from './numbers.ts';
import {
  cardinal,
  decimal,
  fraction,
  ordinal,
  pairs,
  plural,
  spellDigits,
  table,
  twoDigits,
  year,
} from './numbers.ts';
import { currencyAfter } from './currencies.ts';
import { currencyOf, isMagnitude, MAGNITUDES, readMoney } from './money.ts';
import type { Place } from './tokens.ts';
import { isName, nextWord, previousWord } from './tokens.ts';
import { LENGTH_UNIT, unitName } from './units.ts';
import { COMPASS, isAdjective } from './words.ts';

/**
 * Returns the spoken form of a word with digits, such as a number, a date, a price or a measurement. Returns undefined
 * if the word is none of these.
 */
export function readQuantity(written: string, place: Place): string | undefined {
  if (written.length > LONGEST || !/\d/.test(written)) return undefined;
  const word = CONTINENTAL.test(written) ? swapSeparators(written) : written;
  for (const rule of RULES) {
    const spoken = rule(word, place);
    if (spoken !== undefined) return spoken;
  }
  return undefined;
}

/** Matches a number with continental European separators: `5.000,50` or `5.000.000`. */
const CONTINENTAL = /^\p{Sc}?\d{1,3}(?:(?:\.\d{3}){1,6},\d\d|(?:\.\d{3}){2,6})$/u;

const swapSeparators = (written: string): string =>
  written.replaceAll(/[.,]/g, (sign) => (sign === '.' ? ',' : '.'));

// A longer word is read part by part.
const LONGEST = 48;

const RULES: readonly ((word: string, place: Place) => string | undefined)[] = [
  (word) => FIXED.get(word),
  readScale,
  ...DATE_RULES,
  readPhone,
  readRatio,
  readScientific,
  readMoney,
  readNumber,
  readOrdinal,
  readFraction,
  readLength,
  readSize,
  readScaled,
  readWithUnit,
  readRange,
  readSigned,
];

/** The spoken forms of expressions such as `24/7` that are always read the same way. */
export const FIXED =
  table(`24/7=twenty-four seven|9/11=nine eleven|Tu/Th=Tuesday Thursday|M/W/F=Monday Wednesday Friday|7/7=seven seven|50/50=fifty-fifty|20/20=twenty twenty|4x4=four by four
  24x7=twenty-four seven|50-50=fifty-fifty|20-20=twenty twenty|WW2=World War two|WW1=World War one|401(k)=four oh one K
  49ers=forty-niners|401k=four oh one K|360°=three hundred sixty degrees`);

const PHONE =
  /^(?:\+?1[-.])?\(?\d{3}\)?[-.]\d{3}[-.]\d{4}$|^\d{3}-\d{4}$|^\d{3}-\d\d-\d{4}$|^\+\d{1,3}(?:[-.]\d{1,5}){2,5}$|^1-\d{3}-[A-Z]{3,8}$|^0\d{2,4}-\d{3,8}(?:-\d{3,6})?$|^\d{4}(?:-\d{4}){3}$|^\d{5}-\d{4}$|^(?=[\d-]{11,20}$)\d{1,7}(?:-\d{1,7}){3,5}$/;
const EMERGENCY = /^(?:911|999|112|101|411|000)$/;
const CALLED = /^(?:call|dial|calls|dialed|dialled|calling|dialing|called|text|ring)$/i;

/** Returns a telephone number in words, digit by digit, with a pause between the groups. */
export function readPhone(word: string, place: Place): string | undefined {
  const isCall = CALLED.test(previousWord(place)) || /^(?:call|operator)/.test(nextWord(place));
  if (EMERGENCY.test(word) && isCall) return spellDigits(word);
  return PHONE.test(word) ? readGroups(word) : undefined;
}

function readGroups(word: string): string {
  const plus = word.startsWith('+') ? 'plus ' : '';
  const groups = (word.match(/\d+|[A-Z]+/g) ?? []).map((group) =>
    /^[1-9]00$/.test(group) ? cardinal(group, 'US') : spellDigits(group) || group,
  );
  return plus + groups.join(', ');
}

const GROUP = /^(?:\+?\d{1,6}|0\)\d{1,5}|\d{3}-\d{4})$/;
/** Matches telephone and card numbers with spaces between their groups. */
const GROUPS =
  /^(?:\+\d{1,3}(?: 0\b)?(?:[ )]\d{2,6}| \d{3}-\d{4}){2,5}|0\d{2,4}(?: \d{3,6}){1,3}|\d{3} \d{3}-\d{4}|\d{3} \d{3} \d{4}|\d{4}(?: \d{4}){2,3}|\d{3,5}(?: \d{3,5}){2})$/;
const MOST_GROUPS = 6;

/**
 * Returns the spoken form of each group in a telephone or card number that is written with spaces. Returns undefined if
 * no such number begins at this token.
 */
export function readPhoneGroups({ tokens, at }: Place): readonly string[] | undefined {
  const groups: string[] = [];
  for (const { text, before, after } of tokens.slice(at, at + MOST_GROUPS)) {
    if (!GROUP.test(text) || (groups.length > 0 && /[^(]/.test(before))) break;
    groups.push(text);
    if (after !== '' && after !== ')') break;
  }
  const isArea = tokens[at]?.before === '(' && /^\d{3}-\d{4}$/.test(groups[1] ?? '');
  const written = groups.join(' ');
  const isPhone = isArea || (GROUPS.test(written) && written.replaceAll(/\D/g, '').length >= 9);
  if (!isPhone) return undefined;
  return groups.map((group, index) => readGroups(group) + (index < groups.length - 1 ? ',' : ''));
}

const NUMBER = /^(?:\d{1,3}(?:,\d{3}){1,6}|\d{1,2}(?:,\d\d){1,5},\d{3}|\d{1,40})?(?:\.\d{1,20})?$/;
const INTEGER = /^\d{1,40}$/;
// After these nouns, a number of three or four digits is read in pairs.
const READ_IN_PAIRS =
  /^(?:flight|route|room|suite|boeing|airbus|highway|interstate|bus|area|apartment|apt|box|error|xbox|unit|http|channel|gate|extension|building|porsche|studio)$/i;
const SOFTWARE =
  /^(?:version|versions|v|ver|python|node|node\.js|java|ubuntu|ios|ipados|macos|android|php|go|ruby|rust|swift|debian|fedora|postgresql|postgres|mysql|firefox|chrome|typescript|kubernetes|django|rails|numpy|release|npm)$/i;

// Words before a postal code, such as `ZIP` or a state.
const ZIP_BEFORE = /^(?:ZIP|[A-Z]{2})$/;
const CODE_BEFORE = /^(?:PIN|passcode|password|OTP)$/i;

function readNumber(word: string, place: Place): string | undefined {
  if (!NUMBER.test(word) || !/\d/.test(word)) return undefined;
  const { region } = place;
  const before = previousWord(place);
  if (!INTEGER.test(word)) {
    return SOFTWARE.test(before) && !word.includes(',')
      ? readVersion(word, region)
      : decimal(word, region);
  }
  const isClass = /['’‘]$/.test(place.tokens[place.at]?.before ?? '') && word.length === 2;
  if (isClass) return twoDigits(word);
  const isClock =
    /^(?:1\d|2[0-4])[0-5]\d$/.test(word) &&
    /^(?:hours|hrs)$/.test(nextWord(place)) &&
    /^(?:at|by|until|from|to|before|after)$/i.test(before);
  if (isClock) return pairs(word);
  const isMilitary = /^0\d[0-5]\d$/.test(word) && /^(?:hours|hrs)$/.test(nextWord(place));
  if (isMilitary)
    return `${twoDigits(word.slice(0, 2))} ${word.endsWith('00') ? 'hundred' : twoDigits(word.slice(2))}`;
  if (
    /^0\d/.test(word) ||
    (word.length === 5 && (ZIP_BEFORE.test(before) || isAfterZip(place))) ||
    CODE_BEFORE.test(/^(?:is|code|number)$/.test(before) ? previousWord(place, 2) : before)
  ) {
    return spellDigits(word);
  }
  const day = dayBesideMonth(word, place);
  if (day !== undefined) return day;
  if (/^\d{3,4}$/.test(word) && READ_IN_PAIRS.test(before)) return pairs(word);
  if (word.length === 4 && place.tokens[place.at]?.before.endsWith(':') === true)
    return pairs(word);
  if (isSideInPairs(word, place)) return pairs(word);
  if (word.length === 4 && isYear(word, place)) return year(word, region);
  if (/^[A-Z]{2,5}$/.test(before) && /^\d\d[1-9]\d$|^\d\d\d[1-9]$/.test(word)) return pairs(word);
  const currency = /^(?:–|to|-)$/.test(before) ? currencyOf(previousWord(place, 2)) : undefined;
  if (currency !== undefined && !isMagnitude(nextWord(place)))
    return `${cardinal(word, region)} ${currencyAfter(currency, '')}`;
  return cardinal(word, region);
}

/** Returns true for a number at the end of a clause that calls it a ZIP code, unlike `a zip of 12345 bytes`. */
function isAfterZip(place: Place): boolean {
  const { at, tokens } = place;
  const isEnd = nextWord(place) === '';
  return isEnd && tokens.slice(Math.max(0, at - 8), at).some(({ text }) => /^zip$/i.test(text));
}

/** Returns a version number in words, each part as a whole number: `2.10` → `two point ten`. */
export function readVersion(word: string, region: Region): string {
  const parts = word.split('.').map((part) => {
    if (/^0\d$/.test(part)) return `oh ${cardinal(part, region)}`;
    return part.length > 3 && !/^[12]\d{3}$/.test(part)
      ? spellDigits(part)
      : cardinal(part, region);
  });
  return parts.join(' point ');
}

const ORDINAL = /^(\d{1,3}(?:,\d{3})*|\d{1,15})(?:st|nd|rd|th|ST|ND|RD|TH)$/;

function readOrdinal(word: string, place: Place): string | undefined {
  const digits = ORDINAL.exec(word)?.[1];
  return digits && (dayBesideMonth(digits, place) ?? ordinal(digits, place.region));
}

const RATIO = /^(\d{1,3}):(\d{1,3})$/;
// Ratios that can be no time: `4.5:1`, `1000:1`.
const CLEAR_RATIO =
  /^(\d{1,3}(?:,\d{3})+|\d{1,6}):([1-9])$|^(\d{1,4}(?:\.\d{1,2})?):(\d{1,2}\.\d{1,2})$|^(\d{1,4}\.\d{1,2}):(\d)$/;

function readRatio(word: string, { region }: Place): string | undefined {
  const [from, to] =
    CLEAR_RATIO.exec(word)
      ?.slice(1)
      .filter((one) => one !== undefined) ?? [];
  if (from !== undefined && to !== undefined)
    return `${decimal(from, region)} to ${decimal(to, region)}`;
  const [, left, right = ''] = RATIO.exec(word) ?? [];
  if (left === undefined) return undefined;
  return `${cardinal(left, region)} ${right.length === 2 ? '' : 'to '}${cardinal(right, region)}`;
}

const MAP_SCALE = /^1:(\d{1,3}(?:,\d{3}){1,2}|\d{4,7})$/;
const SCALE =
  /^(?:scale|scaled|ratio|odds|models?|replica|miniature|dilutions?|diluted?|slope|gradient|grade|incline|mix|mixed|mixture|proportions?|gear|compression|contrast|aspect|concentration)$/i;

/** Returns a scale or ratio that could be a time or a port, such as `1:50,000`, or `1:24` beside the word `scale`. */
function readScale(word: string, place: Place): string | undefined {
  const around = [nextWord(place), ...[1, 2, 3].map((back) => previousWord(place, back))];
  const isTime =
    /^(?:at|by|until|before|after)$/i.test(previousWord(place)) && !SCALE.test(nextWord(place));
  const isScale = !isTime && around.some((one) => SCALE.test(one));
  const [, left = '1', right] = isScale ? (RATIO.exec(word) ?? []) : [];
  const of = MAP_SCALE.exec(word)?.[1] ?? right;
  return of === undefined
    ? undefined
    : `${cardinal(left, place.region)} to ${cardinal(of, place.region)}`;
}

const FRACTION = /^(\d{1,3}(?:\.\d)?)[/⁄](\d{1,4})(?:ths?|rds?|nds?|sts?)?$/;
// Nouns before a position and a total, as in `step 3/5`.
const STEP =
  /^(?:page|step|part|attempt|retry|slide|item|test|batch|epoch|try|track|disc|episode|round)$/i;
const MIXED = /^(\d{1,4})-(\d{1,2}[/⁄]\d{1,2})$/;
const MEASURED =
  /^(?:of|cup|cups|inch|inches|mile|miles|teaspoon|teaspoons|tablespoon|tablespoons|tsp|tbsp|pound|pounds|lb|oz|hour|hours|in|mi|acre|acres|pint|pints|the)$/;

function readFraction(word: string, place: Place): string | undefined {
  const { region } = place;
  const [, whole, part] = MIXED.exec(word) ?? [];
  if (whole !== undefined && part !== undefined) {
    return `${cardinal(whole, region)} and ${readFraction(part, place)?.replace(/^one /, 'a ')}`;
  }
  const [, length, inches] = /^(\d{1,2}(?:-\d{1,2})?\/\d{1,2})(["″”])$/.exec(word) ?? [];
  if (inches !== undefined && length !== undefined)
    return `${readFraction(length, place)} ${length.includes('-') ? 'inches' : 'inch'}`;
  const [, over, under] = FRACTION.exec(word) ?? [];
  if (over === undefined || under === undefined) return undefined;
  if (/^odds$/i.test(previousWord(place, 2)) || /^odds$/i.test(previousWord(place)))
    return `${decimal(over, region)} to ${cardinal(under, region)}`;
  if (STEP.test(previousWord(place)))
    return `${cardinal(over, region)} of ${cardinal(under, region)}`;
  const [top, bottom] = [Number(over), Number(under)];
  if (top + bottom === 100) return `${cardinal(over, region)} ${cardinal(under, region)}`;
  if (nextWord(place) === 'pitch') return `${cardinal(over, region)} ${cardinal(under, region)}`;
  const isMeasure = MEASURED.test(nextWord(place));
  if (INTEGER.test(previousWord(place)) && top < bottom && bottom <= 64) {
    return `and ${fraction(top, bottom, region).replace(/^one /, 'a ')}`;
  }
  const isFraction =
    top < bottom &&
    bottom > 1 &&
    (isMeasure || top === 1 ? bottom <= 1000 : bottom < 10 || bottom === 16 || bottom === 12);
  const isStars = /^stars?$/.test(nextWord(place)) || top === bottom;
  if (isFraction && !isStars && !over.includes('.')) return fraction(top, bottom, region);
  const link = bottom <= 100 && top <= bottom ? 'out of' : 'over';
  return `${decimal(over, region)} ${link} ${cardinal(under, region)}`;
}

const LENGTH = /^(?:(\d{1,3})['′’]-?)?(?:(\d{1,3}(?:\.\d{1,3})?)(?:["″”]|'')?)?$/;

// Nouns after a length, as in `a 4" nail`.
const IS_MEASURED =
  /^(?!(?:and|or|by|to|in|is|was|are|were|of|from|at|on|with|for|x|wide|long|tall|high|deep|thick|apart)$)[a-z\d]/;

function readLength(word: string, place: Place): string | undefined {
  const [, feet, inches] = /['′’"″”]/.test(word) ? (LENGTH.exec(word) ?? []) : [];
  const [, side = '', sign = '', joined] =
    /^(\d{1,3}(?:\.\d{1,2})?)(['′’"″”])-([a-z]+)$/.exec(word) ?? [];
  if (joined !== undefined)
    return `${decimal(side, place.region)} ${/['′’]/.test(sign) ? 'foot' : 'inch'} ${joined}`;
  const isOne = inches === '1' || (feet === undefined && IS_MEASURED.test(nextWord(place)));
  const parts = [
    ...(feet === undefined ? [] : [cardinal(feet, place.region), feet === '1' ? 'foot' : 'feet']),
    ...(inches === undefined ? [] : [decimal(inches, place.region), isOne ? 'inch' : 'inches']),
  ];
  return parts.length === 0 ? undefined : parts.join(' ');
}

const IN_PAIRS = /^\d\d(?!00)\d\d$/;

/** Returns true for four digits beside a separate `x` and another number, as in `1920 x 1080`. */
function isSideInPairs(word: string, place: Place): boolean {
  if (!IN_PAIRS.test(word)) return false;
  return [nextWord, previousWord].some(
    (beside) => /^[x×]$/.test(beside(place)) && /^\d{3,4}$/.test(beside(place, 2)),
  );
}

const SIDE = /^(\d{1,5}(?:\.\d{1,3})?)([a-zµ"″]{0,3})$/;

function readSize(word: string, place: Place): string | undefined {
  const { region } = place;
  const [, size, joined = ''] = /^(\S*\d)-(in|inch|ft|foot|cm|mm|m)$/.exec(word) ?? [];
  const many = /^(\d[x×]\d{1,2})s$/.exec(word)?.[1];
  if (many !== undefined) return plural(readSize(many, place) ?? '');
  if (size !== undefined && /[x×]/.test(size)) {
    const spoken = readSize(size, place);
    return spoken && `${spoken} ${unitName(joined, true) ?? joined}`;
  }
  const sides = word.split(/[x×]/, 4).map((side) => SIDE.exec(side) ?? []);
  const first = sides[0]?.[1];
  if (sides.length < 2 || first === undefined) return undefined;
  if (sides.length === 2 && /[x×]$/.test(word))
    return decimal(first, region) + (/^[-+=]$/.test(nextWord(place)) ? ' x' : ' times');
  if (sides.some(([side]) => side === undefined)) return undefined;
  const isProduct = /^\d{1,2}×\d{1,2}$/.test(word) && !LENGTH_UNIT.test(nextWord(place));
  const spoken = sides.map(([, side = '', unit = '']) => {
    const number = IN_PAIRS.test(side) ? pairs(side) : decimal(side, region);
    return `${number} ${unitName(unit, false) ?? ''}`.trimEnd();
  });
  return spoken.join(isProduct ? ' times ' : ' by ');
}

// Nouns before a number with a letter, as in `Apt. 5B`.
const NUMBERED_PLACE =
  /^(?:apt|apartment|flat|unit|suite|ste|room|rm|gate|seat|exhibit|section|platform|building|block|type|grade|class|title|level|figure|fig|exit|track|bus|lane)$/i;
const SCALED = /^(\d[\d,]{0,20}(?:\.\d{1,3})?)(k|K|M|m|B|bn|mn|tn)$/;
// Nouns that are counted in millions. Before other words, `5m` is a length.
const COUNTED_IN_MILLIONS =
  /^(?:people|men|women|children|users|votes|copies|jobs|students|employees|members|residents|homes|households|voters|customers|viewers|subscribers|followers|downloads|streams|views|patients|deaths|cases|refugees|workers|tourists|visitors|passengers|vehicles|cars|shares|tonnes|tons|barrels|tokens|dollars|euros|pounds|inhabitants|citizens|readers|listeners|tickets|accounts)$/;
// Words after the name of the company 3M.
const COMPANY_NEXT =
  /^(?:is|was|has|had|will|would|can|makes?|made|says?|said|sells?|sold|plans|announced|reported|shares|stock|tape|products|fell|rose|gained|company|corporation|Company|Co|Corporation|Post-it|Scotch)$/;

function readScaled(word: string, place: Place): string | undefined {
  const [, amount, suffix = ''] = SCALED.exec(word) ?? [];
  if (amount === undefined) return undefined;
  if (suffix === 'm' && !isCounted(place)) return undefined;
  if (word === '3M' && isCompany(place)) return 'three M';
  const isLabel =
    NUMBERED_PLACE.test(previousWord(place)) ||
    (/^\d{1,4}[AB]$/.test(word) && isName(nextWord(place)));
  if (isLabel && suffix.length === 1)
    return `${cardinal(amount, place.region)} ${suffix.toUpperCase()}`;
  const number = decimal(amount, place.region);
  return /^(?:4|5|8|10)K$/.test(word) ? `${number} K` : `${number} ${MAGNITUDES.get(suffix)}`;
}

function isCompany(place: Place): boolean {
  const { text = '' } = place.tokens[place.at] ?? {};
  return (
    COMPANY_NEXT.test(nextWord(place)) ||
    /['’]s$/.test(text) ||
    /^(?:by|at)$/i.test(previousWord(place))
  );
}

function isCounted(place: Place): boolean {
  const isPopulation = previousWord(place) === 'of' && /^population$/i.test(previousWord(place, 2));
  return isPopulation || COUNTED_IN_MILLIONS.test(nextWord(place));
}

const SCIENTIFIC = /^(\d{1,3}(?:\.\d{1,20})?)[eE]([-+]?)(\d{1,3})$/;
const LINES = /^(\d{3,4})([pi])$/;

function readScientific(word: string, { region }: Place): string | undefined {
  const [, lines, kind = ''] = LINES.exec(word) ?? [];
  if (lines !== undefined) return `${pairs(lines)} ${kind.toUpperCase()}`;
  const [, factor, sign, power = ''] = SCIENTIFIC.exec(word) ?? [];
  if (factor === undefined) return undefined;
  const exponent = `${sign === '-' ? 'minus ' : ''}${cardinal(power, region)}`;
  return `${decimal(factor, region)} times ten to the power of ${exponent}`;
}

const ANGLED = /^(?:angle|angles|turn|rotation|view|bend|arc|incline|slope|heat|weather)$/;
const WITH_UNIT = /^([-−+]?)(\d[\d,]{0,20}(?:\.\d{1,8})?)(-?)([%‰°A-Za-zµμΩÅ²³/]{1,12})$/;
// After a number, such a letter belongs to a name and is not a unit: `5G`, `3D`.
const NAME_LETTER = /^(?:[A-Z]|[a-z])$/;
const ATTACHED_LETTER = /^[mgsWVAKlhNJ]$/;

function readWithUnit(word: string, place: Place): string | undefined {
  const { region } = place;
  const [, house, letter] = /^(\d{1,4})([A-Z])$/.exec(word) ?? [];
  if (house !== undefined && isName(nextWord(place))) return `${cardinal(house, region)} ${letter}`;
  const compass = /^(\d{1,3}(?:\.\d{1,8})?)°([NSEW])$/.exec(word);
  if (compass !== null)
    return `${decimal(compass[1] ?? '', region)} degrees ${COMPASS.get(compass[2] ?? '')}`;
  const [, sign = '', number = '', hyphen = '', unit = ''] = WITH_UNIT.exec(word) ?? [];
  if (number === '' || (NAME_LETTER.test(unit) && !ATTACHED_LETTER.test(unit))) return undefined;
  if (/^[WVAKNJ]$/.test(unit) && Number(number) < 10) return undefined;
  // The report of a company, and the race.
  if (word === '10-K') return undefined;
  const isOne =
    number === '1' || hyphen !== '' || isAdjective(place) || ANGLED.test(nextWord(place));
  const name = unitName(unit, isOne);
  if (name === undefined) return undefined;
  return `${signWord(sign)}${decimal(number, region)} ${name}`;
}

const RANGE = /^(\S{0,20}?[\d%°ap²m.])[-−](\d\S{0,20}|\p{Sc}\S{1,20})$/u;
const WON =
  /^(?:drawn|won|beat|lost|score|scored|victory|defeat|win|wins|draw|drew|lead|led|final|leading|ahead|trail|trailed|thrashed|defeated|beating|loss|tie|tied|record|went|up|down|finished|vote|voted|ruled|a)$/i;

/** Returns true if a text contains a tennis score, such as `40-15` or the sets `6-4, 3-6`. */
export function isTennis(text: string): boolean {
  const sets = text.match(/\b(?:[0-7][-–][67]|[67][-–][0-7]|40[-–](?:15|30))\b/g) ?? [];
  return sets.some(
    (one) => one.startsWith('40') || (sets.length > 1 && one.charAt(0) > one.charAt(2)),
  );
}

/** Matches the words after the wins and losses of a team. */
const SEASON = /^(?:this|last|on the|overall|in) (?:season|year)|^overall|^record\b/;

function readRange(word: string, place: Place): string | undefined {
  const [, from, to] = RANGE.exec(word) ?? [];
  if (from === undefined || to === undefined || /-/.test(to)) return undefined;
  const { at, region, tokens } = place;
  if (isTennis([tokens[at - 1]?.text, word, tokens[at + 1]?.text].join(' ')))
    return `${cardinal(from, region)} ${cardinal(to, region)}`;
  if (/^\d{3}$/.test(from) && READ_IN_PAIRS.test(previousWord(place)))
    return `${pairs(from)} ${pairs(to)}`;
  const isScore =
    /^\d{1,3}$/.test(from) &&
    /^\d{1,3}$/.test(to) &&
    (Number(from) > Number(to) ||
      isTeamRecord(place) ||
      (WON.test(previousWord(place)) && (from === to || !/[a-z]/.test(nextWord(place).charAt(0)))));
  if (isScore && monthNamed(previousWord(place)) === undefined) {
    if (SEASON.test(`${nextWord(place)} ${nextWord(place, 2)}`) || isTeamRecord(place))
      return `${cardinal(from, region)} and ${cardinal(to, region)}`;
    const isDraw = from === '0' && to === '0';
    const link = region === 'GB' || isDraw ? '' : 'to ';
    const points = (number: string): string =>
      number === '0' && region === 'GB' ? 'nil' : cardinal(number, region);
    return `${points(from)} ${link}${points(to)}`;
  }
  if (monthNamed(previousWord(place)) !== undefined || monthNamed(nextWord(place)) !== undefined) {
    const [start, end] = [dayBesideMonth(from, place), dayBesideMonth(to, place)];
    if (start !== undefined && end !== undefined)
      return `${start.replace(/ of$/, '')} to ${end.replace(/^the /, '')}`;
  }
  const isYears = /^\d{4}$/.test(from) && isYear(from, place);
  if (isYears && /^\d\d(?:\d\d)?$/.test(to)) {
    const last = to.length === 2 ? twoDigits(to) : year(to, region);
    return `${year(from, region)} to ${last}`;
  }
  if (/^(?:no|number|docket)$/i.test(previousWord(place)) && /^\d+$/.test(from + to))
    return `${cardinal(from, region)} ${cardinal(to, region)}`;
  const second = readQuantity(to, place);
  const bare = /^[\d.,]+$/.test(from) && !/^[\d.,]+$/.test(to);
  const first = bare ? decimal(from, region) : readQuantity(from, place);
  return first === undefined || second === undefined ? undefined : `${first} to ${second}`;
}

/** Returns true for the wins and losses of a team, as in `The Chiefs went 14-3`. */
function isTeamRecord(place: Place): boolean {
  if (/^(?:up|down|ahead|behind|in|winners?|after|to)$/.test(nextWord(place))) return false;
  const verb = previousWord(place);
  const isChange = [2, 3, 4].some((back) =>
    /^(?:fell|improved|dropped|moved|rose|slipped)$/.test(previousWord(place, back)),
  );
  if (verb === 'to' && isChange) return true;
  const isTeam =
    isName(previousWord(place, 2)) || /^(?:they|we|team)$/i.test(previousWord(place, 2));
  return verb === 'went' || (isTeam && /^(?:are|is|were|finished|sit|stand)$/.test(verb));
}

const SIGNED = /^(<=|>=|[-−+~≈<>≤≥±#×])(\S{1,40})$/;
const SIGN_WORDS =
  table(`-=minus|−=minus|+=plus|~=about|≈=about|<=less than|>=more than|≤=at most|<==at most|≥=at least|>==at least
  ±=plus or minus|#=number|×=times`);
const MORE = /^(\S{1,40})\+$/;

function signWord(sign: string): string {
  return sign === '' ? '' : `${SIGN_WORDS.get(sign)} `;
}

function readSigned(word: string, place: Place): string | undefined {
  const more = MORE.exec(word)?.[1];
  if (more !== undefined) {
    const spoken = readQuantity(more, place);
    return spoken === undefined ? undefined : `${spoken} plus`;
  }
  const [, sign = '', rest = ''] = SIGNED.exec(word) ?? [];
  if (rest === '') return undefined;
  if (sign === '#' && /^\d{5,20}$/.test(rest)) return `number ${spellDigits(rest)}`;
  const isPlain = /^[-−+]/.test(sign) && INTEGER.test(rest);
  const spoken =
    isPlain && !/^0\d/.test(rest) ? cardinal(rest, place.region) : readQuantity(rest, place);
  return spoken === undefined ? undefined : signWord(sign) + spoken;
}
