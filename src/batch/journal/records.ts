/** How far an item has got, in the order in which it goes on. */
export const ITEM_STATES = [
  /** Written down; it may have been sent, under the key that is written down with it. */
  'planned',
  /** About to be sent to what cannot be asked again: from here on it may be paid for. */
  'sent',
  /** The service has taken it as a job, whose id is known; it is paid for, or will be. */
  'accepted',
  /** Its job failed and was refunded. */
  'failed',
  /** It was paid for, and its audio cannot be had again. */
  'lost',
  /** Its audio is whole and checked, and about to get its name. */
  'verified',
  /** It has its name. */
  'published',
] as const;

export type ItemState = (typeof ITEM_STATES)[number];

/** What becomes known on the way. */
export interface ItemFacts {
  readonly jobId?: string;
  readonly requestId?: string;
  readonly creditsUsed?: number;
  readonly sha256?: string;
  readonly bytes?: number;
  /** Of the file, when it got its name: with it the file is known again without being read. */
  readonly mtimeMs?: number;
  /** Only a part of it is there: segments of its job failed, or words have no times. */
  readonly isPartial?: boolean;
  /** What was sent was refused, and not paid for; it may be sent again under its key. */
  readonly isRefused?: boolean;
  /** Why it failed or is lost. */
  readonly problem?: string;
}

/** What is written down before anything is sent. Never an API key, never the text. */
export interface ItemAbout {
  readonly output: string;
  /** Chosen by us, and no secret. */
  readonly key: string;
  readonly origin: string;
  /** The `--redo` that it was bought again for. */
  readonly redo?: string;
  /** Further files of the item, such as captions. */
  readonly besides?: readonly string[];
}

/** One line: a step of one purchase. */
export interface ItemStep {
  /** For which item it was made; any item with this body may use it. */
  readonly item: string;
  /** The content by which items are identified: see `bodyDigest`. */
  readonly body: string;
  readonly generation: number;
  readonly state: ItemState;
  readonly about?: ItemAbout | undefined;
  readonly facts?: ItemFacts | undefined;
}

/** One item with one body, as all that was written of it tells. */
export interface ItemStatus extends ItemStep {
  readonly about: ItemAbout | undefined;
  readonly facts: ItemFacts;
}

/** A line's step; undefined for a line that is something else. */
export function parseItemStep(record: Readonly<Record<string, unknown>>): ItemStep | undefined {
  const { item, body, generation, state, about, facts } = record;
  const known = ITEM_STATES.find((one) => one === state);
  if (typeof item !== 'string' || typeof body !== 'string' || known === undefined) return undefined;
  if (typeof generation !== 'number' || !Number.isSafeInteger(generation)) return undefined;
  return {
    item,
    body,
    generation,
    state: known,
    about: isAbout(about) ? about : undefined,
    facts: isFacts(facts) ? facts : undefined,
  };
}

/** An item after one more step: the higher generation, and in it the state that lies further, wins. */
export function mergeStep(before: ItemStatus | undefined, step: ItemStep): ItemStatus {
  const { about, facts = {} } = step;
  if (before === undefined || step.generation > before.generation) return { ...step, about, facts };
  if (step.generation < before.generation) return before;
  const isFurther = ITEM_STATES.indexOf(step.state) >= ITEM_STATES.indexOf(before.state);
  return {
    ...before,
    state: isFurther ? step.state : before.state,
    about: isFurther ? (about ?? before.about) : (before.about ?? about),
    facts: isFurther ? { ...before.facts, ...facts } : { ...facts, ...before.facts },
  };
}

/** Whether all of its audio came, was checked, and is known by its hash. */
export function isWhole({ facts, state }: ItemStatus): boolean {
  const isChecked = state === 'verified' || state === 'published';
  return isChecked && facts.sha256 !== undefined && facts.isPartial !== true;
}

function isAbout(value: unknown): value is ItemAbout {
  if (typeof value !== 'object' || value === null) return false;
  const fields = new Map<string, unknown>(Object.entries(value));
  const redo = fields.get('redo');
  const besides = fields.get('besides');
  return (
    ['output', 'key', 'origin'].every((name) => typeof fields.get(name) === 'string') &&
    (redo === undefined || typeof redo === 'string') &&
    (besides === undefined || isTexts(besides))
  );
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

const FACT_TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    jobId: 'string',
    requestId: 'string',
    creditsUsed: 'number',
    sha256: 'string',
    bytes: 'number',
    mtimeMs: 'number',
    isPartial: 'boolean',
    isRefused: 'boolean',
    problem: 'string',
  }),
);

/** Facts of a later foley, which this one does not know, are no fault. */
function isFacts(value: unknown): value is ItemFacts {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).every(([name, fact]) => {
    const type = FACT_TYPES.get(name);
    return type === undefined || typeof fact === type;
  });
}
