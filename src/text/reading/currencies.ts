import { inflect, table } from './numbers.ts';

// The spoken name of each currency and, after the colon, of its hundredth.
const CURRENCIES = table(
  `$=dollar:cent|US$=U S dollar:cent|A$=Australian dollar:cent|AU$=Australian dollar:cent
  C$=Canadian dollar:cent|CA$=Canadian dollar:cent|NZ$=New Zealand dollar:cent|HK$=Hong Kong dollar:cent
  £=pound:penny/pence|€=euro:cent|¥=yen/yen:|₹=rupee:paisa/paise|₩=won/won:|₽=ruble:kopeck|¢=cent:
  USD=U S dollar:cent|EUR=euro:cent|GBP=pound:penny/pence|JPY=yen/yen:|CAD=Canadian dollar:cent
  AUD=Australian dollar:cent|CHF=Swiss franc:centime|SEK=Swedish krona/Swedish kronor:|NOK=Norwegian krone/Norwegian kroner:
  DKK=Danish krone/Danish kroner:|ISK=Icelandic krona/Icelandic kronur:|MAD=Moroccan dirham:|AED=U A E dirham:|SAR=Saudi riyal:|INR=rupee:paisa/paise
  PKR=Pakistani rupee:|Rs=rupee:paisa/paise|Rs.=rupee:paisa/paise|CNY=yuan/yuan:|KRW=won/won:|BRL=real/reais:|MXN=Mexican peso:|ZAR=rand/rand:
  PLN=zloty/zloty:|CZK=Czech koruna/Czech korunas:|HUF=forint/forint:|THB=baht/baht:|SGD=Singapore dollar:cent|HKD=Hong Kong dollar:cent
  NZD=New Zealand dollar:cent|TWD=Taiwan dollar:|RUB=ruble:|IDR=rupiah/rupiah:|MYR=ringgit/ringgit:|VND=dong/dong:|NGN=naira/naira:|EGP=Egyptian pound:
  ILS=shekel:|UAH=hryvnia:|QAR=Qatari riyal:|KWD=Kuwaiti dinar:|R$=real/reais:centavo|S$=Singapore dollar:cent|NT$=Taiwan dollar:|MX$=Mexican peso:centavo
  ₱=peso:centavo|₺=lira/lira:kurus/kurus|₦=naira/naira:kobo/kobo|₫=dong/dong:|₴=hryvnia:kopiyka|₪=shekel:agora/agorot|฿=baht/baht:
  ₡=colon/colones:|₲=guarani:|₵=cedi:pesewa|₸=tenge/tenge:|₼=manat/manat:|₾=lari/lari:|₿=bitcoin:|₭=kip/kip:|₮=tugrik:|₨=rupee:paisa/paise|₣=franc:
  ₤=pound:|₧=peseta:|₠=euro:|₢=cruzeiro:|৳=taka/taka:|៛=riel:|֏=dram:|؋=afghani:`,
);

/** Source of a regular expression that matches a currency sign or code. */
export const CURRENCY_SIGN =
  '(?:US|AU?|CA?|NZ|HK|MX|NT|R|S)?\\$|[£€¥₹₩₽₱₺₦₫₴₪฿₡₲₵₸₼₾₿₭₮₨₣₤₧₠₢৳៛֏؋]|Rs\\.?|USD|EUR|GBP|JPY|CAD|AUD|CHF|SEK|NOK|DKK|ISK|MAD|AED|SAR|INR|PKR|CNY|KRW|BRL|MXN|ZAR|PLN|CZK|HUF|THB|SGD|HKD|NZD|TWD|RUB|IDR|MYR|VND|NGN|EGP|ILS|UAH|QAR|KWD';

/**
 * Returns the spoken name of a currency, such as `dollars` for `$`. If `number` is 1, the name is singular. Returns
 * undefined for an unknown sign or code.
 */
export function currencyAfter(sign: string, number: string): string | undefined {
  const [unit] = CURRENCIES.get(sign)?.split(':') ?? [];
  return unit && inflect(unit, /^(?:1|one)$/.test(number));
}

/**
 * Returns the singular name of a currency and of its hundredth, such as `dollar` and `cent`. Either may be followed by its plural, as in
 * `won/won`. A name is empty if there is none.
 */
export function currencyUnits(sign: string): readonly [unit: string, part: string] {
  const [unit = '', part = ''] = CURRENCIES.get(sign)?.split(':') ?? [];
  return [unit, part];
}
