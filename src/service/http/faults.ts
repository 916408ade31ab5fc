import type { FaultStatus } from '../../contract/service-errors.ts';
import { CODE_OF_STATUS } from '../../contract/service-errors.ts';
import { ServiceError } from '../service-error.ts';

type RequestLine = Readonly<Record<'method' | 'path', string>>;

type EffectOf<Kind extends FaultEffect['kind']> = Extract<FaultEffect, { kind: Kind }>;

export interface RequestFaults {
  readonly delay?: EffectOf<'delay'> | undefined;
  readonly status?: EffectOf<'status'> | undefined;
  readonly cut?: BodyCut | undefined;
}

export type Faults = ReturnType<typeof createFaults>;

/**
 * Creates the component that selects the fault rules for each request. For each kind of effect, it goes through the
 * rules in order and applies the first rule that matches and is due. Rules of this kind after the applied one do not
 * count the request.
 */
export function createFaults(rules: readonly FaultRule[]) {
  let counters = countersOf(rules);
  const draw = <Kind extends FaultEffect['kind']>(
    { method, path }: RequestLine,
    ...kinds: readonly Kind[]
  ): {
    readonly effect: EffectOf<Kind> | undefined;
    readonly count: () => EffectOf<Kind> | undefined;
  } => {
    const asked: typeof counters = [];
    let due: EffectOf<Kind> | undefined;
    for (const counter of counters) {
      const { effect, matches, requests, when } = counter;
      const isMatch = ['*', method].includes(counter.method) && matches(path);
      if (!isMatch || !isOneOf(effect, kinds)) continue;
      asked.push(counter);
      if (!isDue(when, requests + 1)) continue;
      due = effect;
      break;
    }
    const count = (): typeof due => {
      for (const counter of asked) counter.requests += 1;
      return due;
    };
    return { effect: due, count };
  };
  return {
    /** Replaces all rules. The counts of the new rules begin at 0. */
    replace(next: readonly FaultRule[]): void {
      counters = countersOf(next);
    },
    /** Counts a request and returns the faults to apply to it. */
    ofRequest(request: RequestLine): RequestFaults {
      const delay = draw(request, 'delay').count();
      const status = draw(request, 'status').count();
      const cut = status === undefined ? draw(request, 'reset', 'truncate').count() : undefined;
      return { delay, status, cut };
    },
    /** Returns the fault for a new job. Call `count` once the job is accepted, so that the rules count its request. */
    ofJob(create: RequestLine): {
      readonly outcome: JobFault | undefined;
      readonly count: () => void;
    } {
      const { effect, count } = draw(create, 'job');
      return { outcome: effect?.outcome, count };
    },
  };
}

function countersOf(rules: readonly FaultRule[]) {
  return rules.map((rule) => ({ ...rule, matches: pathMatcher(rule.path), requests: 0 }));
}

function isDue(when: FaultWhen, request: number): boolean {
  switch (when.kind) {
    case 'always':
      return true;
    case 'first':
      return request <= when.times;
    case 'every':
      return request % when.every === 0;
  }
}

function isOneOf<Kind extends FaultEffect['kind']>(
  effect: FaultEffect,
  kinds: readonly Kind[],
): effect is EffectOf<Kind> {
  return kinds.some((kind) => kind === effect.kind);
}

/** A rule that makes the service misbehave, to test clients. */
export interface FaultRule {
  /** An HTTP method, or `*` for any. */
  readonly method: string;
  /** Glob for a path: `*` and `?` match within a path segment, `**` also across segments. */
  readonly path: string;
  readonly effect: FaultEffect;
  readonly when: FaultWhen;
}

export type FaultEffect =
  /** The service responds with an error of this status instead of handling the request. */
  | { readonly kind: 'status'; readonly status: FaultStatus; readonly retryAfter?: number }
  | { readonly kind: 'delay'; readonly ms: number }
  | BodyCut
  | { readonly kind: 'job'; readonly outcome: JobFault };

/** A fault that breaks the connection after `afterBytes` bytes of a response body, by a reset or an early end. */
export interface BodyCut {
  readonly kind: 'reset' | 'truncate';
  readonly afterBytes: number;
}

export type JobFault = 'fail' | 'partial_fail';

/** Which of the matching requests a rule affects. */
export type FaultWhen =
  | { readonly kind: 'always' }
  | { readonly kind: 'first'; readonly times: number }
  | { readonly kind: 'every'; readonly every: number };

/**
 * Returns a function that tests a percent-encoded path against a glob. In the glob, `*` matches any text within a path
 * segment, `?` one character, and `**` any text; all other characters match themselves.
 */
export function pathMatcher(glob: string): (path: string) => boolean {
  const source = glob.replaceAll(/\*{2,}|[*?]|[^*?]+/g, (part) => WILDCARDS.get(part) ?? any(part));
  const pattern = new RegExp(`^${source}$`, 's');
  return (path) => pattern.test(path);
}

const WILDCARDS = new Map([
  ['*', '[^/]*'],
  ['?', '[^/]'],
]);

function any(part: string): string {
  return part.startsWith('**') ? '.*' : part.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}

/** Returns the error response of a fault rule. */
export function statusFault({ status, retryAfter }: EffectOf<'status'>): ServiceError {
  const headers = retryAfter === undefined ? undefined : { 'Retry-After': String(retryAfter) };
  const message = `A fault rule of this service returned ${status}; the request had no effect`;
  return new ServiceError(CODE_OF_STATUS[status], message, { headers });
}
