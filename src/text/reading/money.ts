import { CURRENCY_SIGN, currencyAfter, currencyUnits } from './currencies.ts';
import { cardinal, decimal, inflect, table } from './numbers.ts';
import type { Place } from './tokens.ts';
import { nextWord, previousWord } from './tokens.ts';
import { isAdjective } from './words.ts';

/** Spoken forms of abbreviated magnitudes, such as `million` for `M`. */
export const MAGNITUDES =
  table(`k=thousand|K=thousand|M=million|mn=million|mm=million|m=million|B=billion|b=billion|bn=billion|T=trillion|tn=trillion
  trn=trillion`);

/** Returns true for a word that multiplies the number before it, such as `million` or `bn`. */
export function isMagnitude(word: string): boolean {
  return /^(?:thousand|million|billion|trillion|hundred|bn|mn|tn|lakh|crore)$/.test(word);
}

const AMOUNT = '(\\d[\\d,]{0,24}(?:\\.\\d{1,4})?|\\.\\d\\d)';
const MONEY = new RegExp(
  `^([-−+]?)(${CURRENCY_SIGN})([-−]?)${AMOUNT}(k|K|m|M|mn|mm|b|B|bn|T|tn|trn)?$`,
);
const MONEY_LAST = new RegExp(`^${AMOUNT}(k|K|m|M|bn)?(${CURRENCY_SIGN}|¢|p)$`);
const MONEY_RANGE = new RegExp(
  `^(${CURRENCY_SIGN})${AMOUNT}[-−](?:(?:${CURRENCY_SIGN})?)${AMOUNT}(k|K|m|M|bn|B)?$`,
);
const PRICE_OF = new RegExp(`^(${CURRENCY_SIGN})${AMOUNT}-(thousand|million|billion|trillion)$`);
const BEGINS_WITH_MONEY = new RegExp(`^[-−+~<>]?(${CURRENCY_SIGN})\\d`);
// After an amount, these nouns show that the amount is an adjective, as in `a $5 bill`.
const PRICED =
  /^(?:bill|bills|notes?|coins?|deal|contract|fund|grant|house|home|budget|project|loan|investment|fine|lawsuit|settlement|prize|donation|bond|question|idea|company|business|industry|market|ticket|plan|program|programme|mansion|check|cheque|gift|menu|meal|fee|bonus|stake|package|acquisition|valuation|round|reward|scholarship|discount|increase|minimum|limit)$/;

/**
 * Returns the currency sign or code at the beginning of an amount, such as `$` for `$5`. Returns undefined for any
 * other word.
 */
export function currencyOf(word: string): string | undefined {
  return BEGINS_WITH_MONEY.exec(word)?.[1];
}

/**
 * Returns the spoken form of a magnitude after a number, such as `billion` for `bn`. If the number has a currency sign,
 * the currency follows: in `$5 million`, `million` becomes `million dollars`. Returns undefined for other words, and
 * for magnitudes that are spoken as written.
 */
export function readMagnitude(word: string, place: Place): string | undefined {
  const before = previousWord(place);
  const link = /^(?:–|to|-)$/.test(previousWord(place, 2)) ? previousWord(place, 3) : '';
  const currency = currencyOf(before) ?? (/^\d/.test(before) ? currencyOf(link) : undefined);
  if (!isMagnitude(word) || !/\d$/.test(before)) return undefined;
  const magnitude = MAGNITUDES.get(word) ?? word;
  if (currency === undefined) return magnitude === word ? undefined : magnitude;
  return `${magnitude} ${currencyAfter(currency, PRICED.test(nextWord(place)) ? '1' : '')}`;
}

/** Returns the spoken form of an amount of money, such as `$3.50`, `£2m` or `$10-20`. */
export function readMoney(word: string, place: Place): string | undefined {
  const { region } = place;
  const [, old, coin] = /^(\d{1,2})([sd])$/.exec(word) ?? [];
  if (old !== undefined && currencyOf(previousWord(place)) === '£')
    return `${cardinal(old, region)} ${inflect(coin === 's' ? 'shilling' : 'penny/pence', old === '1')}`;
  const [, range = '', from = '', to = '', toScale] = MONEY_RANGE.exec(word) ?? [];
  if (range !== '') return `${decimal(from, region)} to ${readAmount(range, to, toScale, place)}`;
  const [, of = '', price = '', size] = PRICE_OF.exec(word) ?? [];
  if (of !== '') return `${decimal(price, region)} ${size} ${currencyAfter(of, '1')}`;
  const [, first = '', firstScale, last = ''] = MONEY_LAST.exec(word) ?? [];
  if (last === 'p')
    return region === 'GB' && firstScale === undefined ? `${decimal(first, region)} P` : undefined;
  if (last !== '') return readAmount(last, first, firstScale, place);
  const [, outer = '', sign, inner = '', amount = '', scale] = MONEY.exec(word) ?? [];
  if (sign === undefined) return undefined;
  const signed = /[-−]/.test(outer + inner) ? 'minus ' : outer === '+' ? 'plus ' : '';
  return signed + readAmount(sign, amount, scale, place);
}

function readAmount(sign: string, amount: string, scale: string | undefined, place: Place): string {
  const { region } = place;
  const [unit, part] = currencyUnits(sign);
  const isPrice =
    PRICED.test(nextWord(place)) || (/^an?$/i.test(previousWord(place)) && isAdjective(place));
  if (scale !== undefined)
    return `${decimal(amount, region)} ${MAGNITUDES.get(scale)} ${inflect(unit, isPrice)}`;
  // The second amount of a range names the currency.
  const isFirst =
    (/^[–-]$/.test(nextWord(place)) &&
      (/^\d/.test(nextWord(place, 2)) ||
        (currencyOf(nextWord(place, 2)) === sign && !amount.includes('.')))) ||
    (/^(?:and|to|or)$/.test(nextWord(place)) &&
      currencyOf(nextWord(place, 2)) === sign &&
      isMagnitude(nextWord(place, 3)));
  if (isFirst || isMagnitude(nextWord(place))) return decimal(amount, region);
  const [whole = '', cents] = amount.split('.');
  if (cents?.length !== 2 || part === '')
    return `${decimal(amount, region)} ${inflect(unit, isPrice || amount === '1')}`;
  const rest = `${cardinal(cents, region)} ${inflect(part, Number(cents) === 1)}`;
  if (Number(whole) === 0 && Number(cents) === 0) return `zero ${inflect(unit, false)}`;
  if (Number(whole) === 0) return rest;
  const head = `${cardinal(whole, region)} ${inflect(unit, whole === '1')}`;
  return Number(cents) === 0 ? head : `${head} and ${rest}`;
}
