/** How far one part has got; written down as it goes on, the last word counts. */
export interface PartStep {
  /** From 0. */
  readonly part: number;
  /**
   * `keyed`: it is asked for under another key from here on; `accepted`: charged for; `done`: its audio is
   * in its file; `failed`: the service could not do it and charged nothing under this key;
   * `delivered`: it went into the stream.
   */
  readonly state: 'keyed' | 'accepted' | 'done' | 'failed' | 'delivered';
  readonly key?: string | undefined;
  readonly jobId?: string | undefined;
  readonly requestId?: string | undefined;
  readonly creditsUsed?: number | undefined;
  readonly quotaRemaining?: number | undefined;
  readonly ignoredParameters?: readonly string[] | undefined;
  /** Of its file. */
  readonly bytes?: number | undefined;
  /** Some of the text could not be spoken. */
  readonly isPartial?: boolean | undefined;
  /** The service does not have its job, which was told. */
  readonly isGone?: boolean | undefined;
}

/** A part as all that was written of it tells. */
export type PartState = Omit<PartStep, 'part' | 'state'> & {
  readonly state: PartStep['state'] | 'planned';
};

/** What is known of a part after one more step. */
export function afterStep(before: PartState, step: PartStep): PartState {
  const { part: _, ...known } = step;
  // Under another key everything begins anew.
  const kept = step.state === 'keyed' ? {} : before;
  const told = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined));
  return { ...kept, ...told, state: step.state };
}

const STATES = ['keyed', 'accepted', 'done', 'failed', 'delivered'] as const;

/** A step that was written down; undefined for what is none. */
export function parsePartStep(record: Readonly<Record<string, unknown>>): PartStep | undefined {
  const { part, state } = record;
  const known = STATES.find((one) => one === state);
  if (known === undefined || typeof part !== 'number') return undefined;
  const text = (name: string): string | undefined => {
    const value = record[name];
    return typeof value === 'string' ? value : undefined;
  };
  const number = (name: string): number | undefined => {
    const value = record[name];
    return typeof value === 'number' ? value : undefined;
  };
  const ignored = record['ignoredParameters'];
  return {
    part,
    state: known,
    key: text('key'),
    jobId: text('jobId'),
    requestId: text('requestId'),
    creditsUsed: number('creditsUsed'),
    quotaRemaining: number('quotaRemaining'),
    ignoredParameters: Array.isArray(ignored) ? ignored.map((one) => String(one)) : undefined,
    bytes: number('bytes'),
    isPartial: record['isPartial'] === true ? true : undefined,
    isGone: record['isGone'] === true ? true : undefined,
  };
}
