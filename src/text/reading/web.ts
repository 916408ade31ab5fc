import { cardinal, pairs, spellDigits, table, words } from './numbers.ts';
import { readVersion } from './quantities.ts';
import type { Place } from './tokens.ts';
import { previousWord } from './tokens.ts';
import { readCapitals, spellLetters } from './words.ts';

/**
 * Returns the spoken form of a URL, a path, a file name, a version or an identifier; undefined for
 * any other word.
 */
export function readTechnical(word: string, place: Place): string | undefined {
  if (/^\.(?:\d|net$)/i.test(word)) return undefined;
  for (const [pattern, read] of RULES) {
    const match = pattern.exec(word);
    const spoken = match === null ? undefined : read(match, place);
    if (spoken !== undefined) return spoken;
  }
  return undefined;
}

type WebRule = readonly [RegExp, (match: RegExpExecArray, place: Place) => string | undefined];

const TOP_LEVEL =
  'com|org|net|io|dev|app|edu|gov|mil|info|biz|ai|co|uk|us|de|fr|es|it|nl|eu|ca|au|jp|cn|in|ch|at|be|se|no|tv|me|xyz|tech|cloud|local|test|example|gg|fm|ly|museum|online|site|store|news|blog';
const EXTENSIONS =
  'md|ts|tsx|js|jsx|mjs|cjs|json|txt|py|html|htm|css|scss|pdf|csv|tsv|jpg|jpeg|png|gif|svg|webp|mp3|mp4|wav|ogg|flac|mov|avi|mkv|zip|gz|tgz|tar|bz2|xz|7z|yml|yaml|toml|log|exe|dll|so|sh|bat|cpp|cc|c|h|hpp|go|rs|rb|php|java|kt|swift|env|xml|doc|docx|xls|xlsx|ppt|pptx|lock|conf|cfg|ini|sql|db|bak|tmp|iso|dmg|deb|rpm|apk|jar|war|wasm|srt|vtt|epub|key|pem|crt|ipynb|vue|lua|tf|old|out|map|service|gitignore|dockerignore|npmrc|bashrc|zshrc|local|example|min|test|spec|config|d';

// If a pattern has a group, foley reads only the group.
const ADDRESSES: readonly RegExp[] = [
  /^(?:https?|ftp|wss?|ssh|file|git|s3):\/\/(\S+)$/i,
  /^(?:mailto:)?([\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5})$/,
  /^(?!\d{1,3}(?:\.\d{3})+$)(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$|(?=[:/]))){4}(?::\d{1,5})?(?:\/\d{1,2})?$/,
  /^www\.\S+$|^localhost:\d{1,5}(?:\/\S*)?$/i,
  new RegExp(`^(?:[\\w-]{1,63}\\.){1,6}(?:${TOP_LEVEL})(?::\\d{1,5})?(?:/\\S*)?$`),
  /^(?:~|\.{1,2})?\/[\w.@%+:*-]+(?:\/[\w.@%+:*-]*)*$|^(?:~|\.{1,2})\/$/,
  /^[A-Za-z]:\\\S*$|^\.[a-z][\w.-]{1,30}$/,
  new RegExp(
    `^(?:[\\w@%+-]{1,64}/){0,12}\\.?[\\w@%+-]{1,64}(?:\\.[\\w@%+-]{1,64}){0,4}\\.(?:${EXTENSIONS})(?::\\d{1,6}){0,2}$`,
  ),
  /^(?=.*[A-Za-z])[\w-]{1,40}(?:\/[\w.-]{1,40}){2,12}\/?$/,
];
// Words that end like the domain of a country but are ordinary text, such as `this.in`.
const WORD_ENDING = /^[\w-]+\.(?:in|at|be|no|so)$|^[A-Z][\w-]*\.(?:me|it|us)$/;

const RULES: readonly WebRule[] = [
  ...ADDRESSES.map((pattern): WebRule => [pattern, readAddress]),
  [/^@([\w.-]{1,60}(?:\/[\w.-]{1,60})?)$/, ([, name = '']) => `at ${spellParts(name)}`],
  [
    /^#(?=[0-9a-f]*\d)(?=\d*[a-f])([0-9a-f]{6}|[0-9a-f]{3})$/i,
    ([, color = '']) => `hash ${spellId(color)}`,
  ],
  [
    /^#(?=\p{N}*\p{L}{2})([\p{L}\p{N}_]{1,80})$/u,
    ([, tag = ''], place) => `hashtag ${splitName(tag, place)}`,
  ],
  [/^([vV]?)(\d{1,4}(?:\.\d{1,5}){0,5})([-+.]?[A-Za-z][\w.-]{0,20})?$/, readRelease],
  [/^--?([A-Za-z][\w-]{0,60})(?:=(\S{1,60}))?$/, readFlag],
  [/^\$\{?([A-Za-z_]\w{0,60})\}?$/, ([, name = ''], place) => `dollar ${splitName(name, place)}`],
  [/^(?:(?:Ctrl|Cmd|Alt|Shift)(?:\+[A-Za-z]\w{0,8}){1,4}|Ctrl-[A-Z])$/i, readKeys],
  [
    /^(?=\d+:\d{4}|\d{4})(\d{2,5}):(\d{2,5})$/,
    ([, from = '', to = ''], place) =>
      `${spellNumber(from)}${/^(?:ISO|IEC|EN|DIN)$/.test(previousWord(place)) ? ',' : ' to'} ${spellNumber(to)}`,
  ],
  [/^([A-Za-z_][\w.]{0,60})\(\)$/, ([, name = '']) => spellParts(name)],
  [/^_{0,2}[A-Za-z]\w{0,60}_\w{0,60}$/, ([name], place) => splitName(name, place)],
  [/^0x([0-9A-Fa-f]{1,32})$/, ([, digits = '']) => `zero X ${spellId(digits)}`],
  [/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, ([id]) => spellId(id)],
  [/^(?=.*\d[a-f])(?=.*[a-f]\d)[0-9a-f]{7,40}$/, ([id]) => spellId(id)],
];

function readKeys([keys]: RegExpExecArray): string {
  const names = keys.replace(/\bdel$/i, 'delete').replace(/\besc$/i, 'escape');
  return spellParts(names.toLowerCase().replaceAll(/[+-]/g, ' '));
}

function readAddress([word, address = word]: RegExpExecArray): string | undefined {
  return WORD_ENDING.test(word) ? undefined : spellParts(address.replace(/(?<=..)\/$/, ''));
}

function readRelease(
  [, mark = '', version = '', tail]: RegExpExecArray,
  place: Place,
): string | undefined {
  const { region } = place;
  const isVersion =
    mark !== '' || (/^\d+\.\d+\.\d/.test(version) && !/^\d{1,3}(?:\.\d{3})+\d?$/.test(version));
  if (!isVersion) return undefined;
  const rest = (tail?.match(/[A-Za-z]+|\d+/g) ?? []).map((part) => {
    if (part === 'rc') return 'R C';
    return /\d/.test(part) ? cardinal(part, region) : part.length === 1 ? part.toUpperCase() : part;
  });
  const isNamed = mark === '' || /^version$/i.test(previousWord(place));
  return [...(isNamed ? [] : ['version']), readVersion(version, region), ...rest].join(' ');
}

function readFlag([word, name = '', value]: RegExpExecArray, place: Place): string | undefined {
  if (!word.startsWith('--') && name.length > 1 && value === undefined) return undefined;
  const isMinus = name.length === 1 && /^[-=+*/<>(]$/.test(previousWord(place));
  const dashes = isMinus ? 'minus' : word.startsWith('--') ? 'dash dash' : 'dash';
  const spoken = name.length === 1 ? name.toUpperCase() : splitName(name, place);
  return `${dashes} ${spoken}${value === undefined ? '' : ` equals ${spellParts(value)}`}`;
}

/** Returns an identifier as words, split at underscores, hyphens and capitals: `MAX_SIZE` → `max size`. */
export function splitName(name: string, place: Place): string {
  const parts = name.split(/[_-]+/).filter((part) => part !== '');
  return parts
    .flatMap((part) => part.match(/\d+|\D+/g) ?? [])
    .map((part) => {
      if (/^\d/.test(part)) return spellNumber(part);
      const isPlain = /^[A-Z]+$/.test(part) && parts.length > 1;
      const lower = part.toLowerCase();
      return isPlain && !ALWAYS_SPELLED.has(lower) ? lower : readCapitals(part, place);
    })
    .join(' ');
}

const SIGNS =
  table(`.=dot|/=slash|\\=backslash|:=colon|?=question mark|==equals|&=and|#=hash|-=dash|_=underscore|@=at|+=plus|%=percent
  ~=tilde|*=star`);
// Parts of URLs and file names that foley spells letter by letter.
const ALWAYS_SPELLED = new Set(
  words(`www api url uri http https html htm css js ts tsx jsx mjs cjs md pdf csv tsv jpg png svg mp gz tgz xz yml exe dll sh cpp cc hpp rs rb php kt xml
   docx xls xlsx ppt pptx cfg sql db iso dmg rpm apk srt vtt io uk us ai tv fr nl eu ca jp cn ch gg fm edu ftp ssh usr id ip cdn npm aws
   cli ui ux sdk ios gpu cpu usb vpn dns tcp udp tls ssl jwt cors? bbc cnn nhs mit ibm bz txt py tf hq rss faq qa pr`),
);
const AS_WORDS = table(
  `src=source|tmp=temp|jpeg=J peg|gif=gif|usr=user|txt=text|localhost=local host|json=JSON|env=env|ctrl=control|cmd=command`,
);

function spellParts(address: string): string {
  return (address.match(/[A-Za-z]+|\d+|./gsu) ?? [])
    .map((part) => {
      if (/^\d/.test(part)) return spellNumber(part);
      if (/^[A-Za-z]/.test(part)) return spellPart(part);
      return SIGNS.get(part) ?? (/\p{L}/u.test(part) ? part : '');
    })
    .filter((part) => part !== '')
    .join(' ');
}

function spellPart(part: string): string {
  const lower = part.toLowerCase();
  const word = AS_WORDS.get(lower);
  if (word !== undefined && part === lower) return word;
  if (
    part.length === 1 ||
    ALWAYS_SPELLED.has(lower) ||
    (part.length < 5 && !/[aeiouy]/.test(lower))
  )
    return spellLetters(part);
  return /[a-z][A-Z]/.test(part) ? (part.match(/[A-Z]*[a-z]+|[A-Z]+/g) ?? []).join(' ') : part;
}

function spellNumber(digits: string): string {
  if (digits.startsWith('0') || digits.length > 4) return spellDigits(digits);
  return digits.length > 2 ? pairs(digits) : cardinal(digits, 'US');
}

function spellId(id: string): string {
  const signs = spellLetters(id).replaceAll(' -', ',');
  return signs.replaceAll(/\d/g, (digit) => spellDigits(digit));
}
