import type { TaggerToken } from './tokenize.ts';

/** The sense of a word: its part of speech, or phonemes that the dictionary does not have. */
export type Sense =
  | { readonly tag: string; readonly phonemes?: undefined }
  | { readonly phonemes: string; readonly tag?: undefined };

/**
 * Returns the sense of a word with several pronunciations where the words around it leave no doubt: `have read`,
 * `live on Friday`, `made of lead`. Returns undefined where the tagger decides.
 */
export function senseOf(tokens: readonly TaggerToken[], at: number): Sense | undefined {
  const rules = RULES.get(tokens[at]?.text.toLowerCase() ?? '');
  if (rules === undefined) return undefined;
  const before = wordsOf(tokens.slice(Math.max(0, at - WORDS_AROUND), at));
  const after = wordsOf(tokens.slice(at + 1, at + 1 + WORDS_AROUND));
  const rule = rules.find((one) => {
    if (one.unlessBefore?.test(before) === true || one.unlessAfter?.test(after) === true)
      return false;
    return (one.before?.test(before) ?? true) && (one.after?.test(after) ?? true);
  });
  return rule?.sense;
}

/**
 * Returns whether a word that the tagger takes for a noun is a verb: the beginning of an object follows, and a plural or
 * nothing is before it, as in `metals conduct the heat` and `Insert a coin`.
 */
export function isVerbBetween(
  tokens: readonly TaggerToken[],
  at: number,
  tagOf: (token: number) => string,
): boolean {
  const next = tokens[at + 1]?.text.toLowerCase() ?? '';
  const last = tokens[at - 1]?.text.toLowerCase() ?? '';
  if (!OBJECT_START.test(next)) return false;
  if (/^[.!?:;“"(]?$/.test(last)) return true;
  if (/^(?:i|we|you|they|never|always|often)$/.test(last)) return true;
  if (last === 'and') return /^(?:my|your|his|her|its|our|their|it|him|them|us|me)$/.test(next);
  return tagOf(at - 1) === 'NNS' && !NOUNS_LIKE_PLURALS.test(last);
}

// Enough for the rules below, so that the time is proportional to the length of the text.
const WORDS_AROUND = 8;
const OBJECT_START =
  /^(?:the|an?|my|your|his|her|its|our|their|these|those|it|him|them|us|me|when|if|how|whether)$/;
const NOUNS_LIKE_PLURALS = /^(?:sales|sports|arms|savings|goods|systems|communications|earnings)$/;

function wordsOf(tokens: readonly TaggerToken[]): string {
  return tokens.map(({ text }) => text.toLowerCase()).join(' ');
}

interface HomographRule {
  /** The words before and after, in lower case and with spaces around marks and parts of contractions. */
  readonly before?: RegExp;
  readonly after?: RegExp;
  readonly unlessBefore?: RegExp;
  readonly unlessAfter?: RegExp;
  readonly sense: Sense;
}

const VERB: Sense = { tag: 'VB' };
const PARTICIPLE: Sense = { tag: 'VBN' };
const NOUN: Sense = { tag: 'NN' };
const ADJECTIVE: Sense = { tag: 'JJ' };
const LEAD_METAL: Sense = { phonemes: 'lˈɛd' };
const TEAR_RIP: Sense = { phonemes: 'tˈɛɹ' };
const RESUME_PAPER: Sense = { phonemes: 'ɹˈɛzəmˌA' };
const USED_TO: Sense = { phonemes: 'jˈust' };

const METAL = '(?:copper|zinc|tin|silver|gold|mercury|iron|steel|cadmium|arsenic)';
const SEEM = "(?:am|is|are|was|were|be|been|being|'s|'m|'re|seem\\w*|feel\\w*|felt|look\\w*)";
const HABIT = '(?:usually|often|always|sometimes|rarely|regularly|never|still|mostly)';
const COMPANY = '(?:i|you|we|they|he|she|it|people|children)';

/** The words with rules. The first rule that fits counts. */
const RULES: ReadonlyMap<string, readonly HomographRule[]> = new Map([
  ['read', readRules()],
  ['live', liveRules()],
  [
    'lives',
    [
      {
        before: /\w$/,
        unlessBefore:
          /\b(?:the|their|our|your|my|his|her|its|these|those|of|many|two|three|nine|several|more|most|all|both|human|private|past|daily|save[sd]?|saving|los[et]|loses|losing|risk\w*|chang\w+|for|and)$/,
        after:
          /^(?:in|at|on|near|with|alone|here|there|next|across|among|inside|outside|abroad|nearby|under)\b/,
        sense: { tag: 'VBZ' },
      },
    ],
  ],
  ['lead', leadRules()],
  ['tear', tearRules()],
  ['bass', bassRules()],
  ['close', closeRules()],
  [
    'used',
    [
      { before: /\b(?:get|gets|got|getting|gr[eo]ws?|bec[oa]me)$/, after: /^to\b/, sense: USED_TO },
      {
        before: new RegExp(`\\b${SEEM}(?: (?:so|quite|not|n't|never|more|well|all|very))*$`),
        after:
          /^to (?:the|an?|this|that|these|those|it|him|her|them|me|us|you|my|your|his|our|their|being|having|doing|\w+ing)\b/,
        sense: USED_TO,
      },
    ],
  ],
  [
    'object',
    [
      {
        before: /\b(?:people|men|women|\w+(?:ers|ors|ists|ants|ents|ians|ics))$/,
        after: /^to\b/,
        sense: VERB,
      },
      {
        before:
          /\b(?:i|we|you|they|who|people|strongly|firmly|not|n't|never|would|will|may|might|could|should|must|did|do)$/,
        sense: VERB,
      },
    ],
  ],
  [
    'content',
    [
      {
        before: new RegExp(`\\b${SEEM}(?: (?:not|n't|quite|very|more|perfectly|\\w+ and))*$`),
        after: /^(?:with|to|just|[.,;!?]|$)/,
        sense: ADJECTIVE,
      },
    ],
  ],
  [
    'minute',
    [
      {
        unlessBefore: /\b(?:one|two|three|four|five|ten|twenty|thirty|sixty|per|few|-)$/,
        after:
          /^(?:traces?|details?|amounts?|quantit(?:y|ies)|particles?|differences?|fractions?|fragments?|changes?|variations?|doses?|proportions?|crystals?|droplets?|grains?|pieces?|cracks?|creatures?|organisms?|examination|inspection)\b/,
        sense: ADJECTIVE,
      },
    ],
  ],
  [
    'bow',
    [
      {
        before: /\bt(?:ake|akes|ook|aken|aking)(?: an?| his| her| their| my| your| one)?(?: \w+)?$/,
        unlessAfter: /^and arrows?\b/,
        sense: VERB,
      },
      { before: /\b(?:low|deep|final|slight)$/, sense: VERB },
    ],
  ],
  [
    'resume',
    [
      {
        before: /\b(?:my|your|his|her|their|our|an?|this|updated|impressive|attached)$/,
        sense: RESUME_PAPER,
      },
    ],
  ],
]);

function readRules(): readonly HomographRule[] {
  const between = `(?: (?:not|n't|also|really|just|already|ever|once|${HABIT}))*`;
  const helper =
    '(?:to|will|would|can|could|should|must|may|might|shall|do|does|did|please|let me|let us|ca|wo)';
  const past = "(?:have|has|had|having|'ve|been|being|be|is|are|was|were|get|gets|got|widely)";
  const isPast = /\b(?:yesterday|last|ago|once|earlier)\b/;
  return [
    { before: new RegExp(`\\b${helper}(?: ${COMPANY})?${between}$`), sense: VERB },
    { before: new RegExp(`\\b${past}(?: ${COMPANY})?${between}$`), sense: PARTICIPLE },
    {
      before: new RegExp(`\\b(?:i|we|you|they|people|children|students) ${HABIT}$`),
      unlessAfter: isPast,
      sense: VERB,
    },
    {
      before: /\b(?:i|we|you|they|people|children|students)$/,
      after: /\b(?:every|each|daily|on \w+days|and write|more than|less than|before bed)\b/,
      unlessAfter: isPast,
      unlessBefore: isPast,
      sense: VERB,
    },
  ];
}

function liveRules(): readonly HomographRule[] {
  return [
    {
      before:
        /\b(?:watch|broadcast|air|stream|perform|televis|play|record|report|heard?|see|saw)\w*(?: \w+){0,3}$/,
      unlessBefore: /\b(?:how|where|who|people|they|we|you|i|to|and|will|can|would|could|not|n't)$/,
      after: /^(?:[.,;!?]|on|from|at|in|tomorrow|today|tonight|now|$)/,
      sense: ADJECTIVE,
    },
    { before: /\b(?:go|goes|going|went|gone|come|comes|coming)$/, sense: ADJECTIVE },
    {
      after:
        /^(?:music|shows?|concerts?|broadcasts?|streams?|streaming|audience|performances?|television|tv|wires?|ammunition|animals?|coverage|recordings?|albums?|bands?|updates?|chat|video)\b/,
      sense: ADJECTIVE,
    },
  ];
}

function closeRules(): readonly HomographRule[] {
  const time = /^(?:early|late|at|on|for|when|down|their|after|before|every)\b/;
  return [
    { before: /\b(?:dr[ae]w\w*|c[oa]m\w+|br(?:ing|ings|ought))(?: \w+){0,3} to a$/, sense: NOUN },
    {
      unlessBefore: new RegExp(`\\b(?:${SEEM}|very|so|too|as|how|quite|come|came|get|got|stay)$`),
      after: /^(?:all|the|this|it|its|their|your|my|his|her|our|any|every|each|both)\b/,
      sense: VERB,
    },
    { before: /\b(?:they|we|you|i)$/, after: time, sense: VERB },
    {
      before: /[a-z]{2}s$/,
      unlessBefore: /\b(?:was|has|this|its|does|always|thus|less|us)$/,
      after: time,
      sense: VERB,
    },
  ];
}

function leadRules(): readonly HomographRule[] {
  return [
    {
      after: new RegExp(
        `^(?:- )?(?:paints?|pipes?|piping|poisoning|pencils?|acid|bullets?|shot|weights?|glass|ore|solder|crystal|levels|exposure|contamination|dust|mines?|free|and ${METAL}|or ${METAL})\\b`,
      ),
      sense: LEAD_METAL,
    },
    {
      before: new RegExp(
        `\\b(?:made (?:of|from|out of)|(?:covered|lined|filled|sealed) (?:with|in)|contain|contains|containing|(?:tons?|pounds?|ounces?|pieces?|sheets?|lumps?|traces|amounts?|levels|grams?) of|molten|${METAL}(?: ,)?(?: and| or|,))$`,
      ),
      unlessAfter: /^(?:singers?|roles?|actors?|guitar\w*|teams?|times?|the|by)\b/,
      sense: LEAD_METAL,
    },
    { after: /^(?:is|was) an? (?:\w+ )?(?:metal|element|poison)\b/, sense: LEAD_METAL },
    { after: /^(?:of|in) (?:an?|the|my|your|his|her) pencil\b/, sense: LEAD_METAL },
  ];
}

function tearRules(): readonly HomographRule[] {
  return [
    { after: /^(?:gas|ducts?|drops?|rolled|ran|fell|stains?)\b/, sense: NOUN },
    { before: /\bwear and$/, sense: TEAR_RIP },
    { before: /\b(?:muscle|ligament|tendon|cartilage|cuff|meniscus|retinal)$/, sense: TEAR_RIP },
    {
      before: /\b(?:an?|the|this|that|one|large|small|big|little|long)$/,
      after: /^in (?:an?|the|my|your|his|her|its|our|their)\b(?! (?:\w+ )?eyes?\b)/,
      sense: TEAR_RIP,
    },
    {
      unlessBefore: /\b(?:an?|the|one|each|every|single|last)$/,
      after: /^(?:along|off|out|up|down|open|apart|here|it|them|the|this)\b/,
      sense: VERB,
    },
  ];
}

function bassRules(): readonly HomographRule[] {
  return [
    {
      before:
        /\b(?:sea|largemouth|smallmouth|striped|fish\w* for|grilled|fried|(?:caught|catch\w*|ate|eat|cook\w*)(?: \w+)?)$/,
      sense: NOUN,
    },
    { after: /^(?:fish\w*|boats?)\b|\b(?:lake|river|pond|bait)\b/, sense: NOUN },
    {
      after:
        /^(?:guitar\w*|drums?|players?|lines?|clef|solos?|notes?|voices?|singers?|clarinet|parts?|sections?|sounds?|amps?|riffs?|boost|levels?|frequenc\w+|and (?:drums?|guitars?|treble|tenor))\b/,
      sense: ADJECTIVE,
    },
    {
      before:
        /\b(?:play\w*|double|electric|upright|acoustic|(?:treble|drums|guitar|vocals) (?:and|,)|more|less|the|heavy|deep|on)$/,
      sense: ADJECTIVE,
    },
  ];
}
