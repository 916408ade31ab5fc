import { cardinal, decimal, table } from './numbers.ts';
import { nextWord, type Place, previousWord } from './tokens.ts';

/** Short forms of `million` and the like. */
export const MAGNITUDES =
  table(`k=thousand|K=thousand|M=million|mn=million|mm=million|m=million|B=billion|b=billion|bn=billion|T=trillion|tn=trillion
  trn=trillion`);

/** Whether a word after an amount is `million` or the like, perhaps abbreviated. */
export function isMagnitude(word: string): boolean {
  return /^(?:thousand|million|billion|trillion|hundred|bn|mn|tn)$/.test(word);
}

type Currency = readonly [one: string, many: string, centime: string, centimes: string];

const DOLLAR: Currency = ['dollar', 'dollars', 'cent', 'cents'];
const CURRENCIES: ReadonlyMap<string, Currency> = new Map(
  `$=dollar=cent|US$=U S dollar=cent|A$=Australian dollar=cent|AU$=Australian dollar=cent|C$=Canadian dollar=cent
  CA$=Canadian dollar=cent|NZ$=New Zealand dollar=cent|HK$=Hong Kong dollar=cent|£=pound=penny/pence|€=euro=cent|¥=yen/yen=
  ₹=rupee=paisa/paise|₩=won/won=|₽=ruble=kopeck|¢=cent=|USD=U S dollar=cent|EUR=euro=cent|GBP=pound=penny/pence|JPY=yen/yen=
  CAD=Canadian dollar=cent|AUD=Australian dollar=cent|CHF=Swiss franc=centime`
    .split(/\|\s*|\n\s*/)
    .map((entry) => {
      const [sign = '', unit = '', part = ''] = entry.split('=');
      const [one = '', many = `${one}s`] = unit.split('/');
      const [centime = '', centimes = `${centime}s`] = part.split('/');
      return [sign, [one, many, centime, centimes]] as const;
    }),
);

const SIGN = '(?:US|AU?|CA?|NZ|HK)?\\$|[£€¥₹₩₽]|USD|EUR|GBP|JPY|CAD|AUD|CHF';
const AMOUNT = '(\\d[\\d,]{0,24}(?:\\.\\d{1,4})?|\\.\\d\\d)';
const MONEY = new RegExp(`^([-−+]?)(${SIGN})([-−]?)${AMOUNT}(k|K|m|M|mn|mm|b|B|bn|T|tn|trn)?$`);
const MONEY_LAST = new RegExp(`^${AMOUNT}(k|K|m|M|bn)?(${SIGN}|¢|p)$`);
const MONEY_RANGE = new RegExp(`^(${SIGN})${AMOUNT}[-−](?:(?:${SIGN})?)${AMOUNT}(k|K|m|M|bn|B)?$`);
const PRICE_OF = new RegExp(`^(${SIGN})${AMOUNT}-(thousand|million|billion|trillion)$`);
const BEGINS_WITH_MONEY = new RegExp(`^[-−+~<>]?(${SIGN})\\d`);
/** Nouns before which an amount is an adjective: `a $5 bill`. */
const PRICED =
  /^(?:bill|bills|note|coin|deal|contract|fund|grant|house|home|budget|project|loan|investment|fine|lawsuit|settlement|prize|donation|bond|question|idea|company|business|industry|market|ticket|plan|program|programme|mansion|check|cheque|gift|menu|meal|fee|bonus|stake|package|acquisition|valuation|round|reward|scholarship|discount|increase|minimum|limit)$/;

/** Returns the currency of a word that begins with its sign and an amount. */
export function currencyOf(word: string): Currency | undefined {
  return CURRENCIES.get(BEGINS_WITH_MONEY.exec(word)?.[1] ?? '');
}

/** Returns the spoken currency for a sign or code that follows a number. */
export function currencyAfter(sign: string, number: string): string | undefined {
  const currency = CURRENCIES.get(sign);
  return /^(?:1|one)$/.test(number) ? currency?.[0] : currency?.[1];
}

/** Reads `million` after an amount with a currency sign, as in `$5 million`. */
export function readMagnitude(word: string, place: Place): string | undefined {
  const before = previousWord(place);
  const link = /^(?:–|to|-)$/.test(previousWord(place, 2)) ? previousWord(place, 3) : '';
  const currency = currencyOf(before) ?? (/^\d/.test(before) ? currencyOf(link) : undefined);
  if (!isMagnitude(word) || !/\d$/.test(before)) return undefined;
  const magnitude = MAGNITUDES.get(word) ?? word;
  if (currency === undefined) return magnitude === word ? undefined : magnitude;
  return `${magnitude} ${currency[PRICED.test(nextWord(place)) ? 0 : 1]}`;
}

/** Reads an amount of money, such as `$3.50`, `£2m` or `$10-20`. */
export function readMoney(word: string, place: Place): string | undefined {
  const { region } = place;
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
  const [one, many, centime, centimes] = CURRENCIES.get(sign) ?? DOLLAR;
  const name = PRICED.test(nextWord(place)) || amount === '1' ? one : many;
  if (scale !== undefined)
    return `${decimal(amount, region)} ${MAGNITUDES.get(scale)} ${PRICED.test(nextWord(place)) ? one : many}`;
  // The second amount of a range names the currency.
  const isFirst = /^[–-]$/.test(nextWord(place)) && /^\d/.test(nextWord(place, 2));
  if (isFirst || isMagnitude(nextWord(place))) return decimal(amount, region);
  const [whole = '', cents] = amount.split('.');
  if (cents?.length !== 2 || centime === '') return `${decimal(amount, region)} ${name}`;
  const part = `${cardinal(cents, region)} ${Number(cents) === 1 ? centime : centimes}`;
  if (Number(whole) === 0) return part;
  const head = `${cardinal(whole, region)} ${whole === '1' ? one : many}`;
  return Number(cents) === 0 ? head : `${head} and ${part}`;
}
