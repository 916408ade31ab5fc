import { ENDPOINTS } from '../../contract/generated/endpoints.ts';
import type { FaultStatus } from '../../contract/service-errors.ts';
import { CODE_OF_STATUS } from '../../contract/service-errors.ts';
import { ServiceError } from '../service-error.ts';

export interface Faults {
  /** What is to happen to a request that has just arrived; it is counted. */
  ofRequest(request: RequestLine): RequestFaults;
  /** What is to happen to a job that may be accepted; it is counted once it is. */
  ofJob(create: RequestLine): DrawnJobFault;
}

interface RequestLine {
  readonly method: string;
  /** As it is written in the request, without the query. */
  readonly path: string;
}

/** Nothing in it is a request that is served as always. */
export interface RequestFaults {
  readonly delay?: Extract<FaultEffect, { kind: 'delay' }>;
  readonly status?: Extract<FaultEffect, { kind: 'status' }>;
  readonly cut?: BodyCut;
}

interface DrawnJobFault {
  readonly outcome: JobFault | undefined;
  /** The job was accepted. */
  count(): void;
}

/**
 * Rules with their counters. Of each kind of effect the first rule that matches and is due acts; a rule
 * that need not be asked, since an earlier one acts, is not counted. Everything here is synchronous,
 * so that the counts are exact however many requests there are at once.
 */
export function createFaults(rules: readonly FaultRule[]): Faults {
  const counters = rules.map((rule) => createCounter(rule));
  const firstDue = <Kind extends FaultEffect['kind']>(
    request: RequestLine,
    ...kinds: readonly Kind[]
  ): Drawn<Kind> => {
    const asked: Counter[] = [];
    for (const counter of counters) {
      const effect = effectOf(counter, kinds);
      if (effect === undefined || !counter.matches(request)) continue;
      asked.push(counter);
      if (counter.isDue()) return { effect, asked };
    }
    return { effect: undefined, asked };
  };
  return {
    ofRequest(request) {
      const delay = count(firstDue(request, 'delay'));
      const status = count(firstDue(request, 'status'));
      const cut = status === undefined ? count(firstDue(request, 'reset', 'truncate')) : undefined;
      return {
        ...(delay === undefined ? {} : { delay }),
        ...(status === undefined ? {} : { status }),
        ...(cut === undefined ? {} : { cut }),
      };
    },
    ofJob(create) {
      const drawn = firstDue(create, 'job');
      return { outcome: drawn.effect?.outcome, count: () => void count(drawn) };
    },
  };
}

interface Counter {
  readonly effect: FaultEffect;
  matches(request: RequestLine): boolean;
  /** Whether the rule acts on the next request that it is asked about. */
  isDue(): boolean;
  count(): void;
}

interface Drawn<Kind> {
  readonly effect: Extract<FaultEffect, { kind: Kind }> | undefined;
  readonly asked: readonly Counter[];
}

function createCounter({ method, path, effect, when }: FaultRule): Counter {
  const matchesPath = pathMatcher(path);
  let asked = 0;
  return {
    effect,
    matches: (request) =>
      (method === '*' || method === request.method) && matchesPath(request.path),
    isDue: () => actsOn(when, asked + 1),
    count() {
      asked += 1;
    },
  };
}

function actsOn(when: FaultWhen, turn: number): boolean {
  switch (when.kind) {
    case 'always':
      return true;
    case 'first':
      return turn <= when.times;
    case 'every':
      return turn % when.every === 0;
  }
}

function effectOf<Kind extends FaultEffect['kind']>(
  { effect }: Counter,
  kinds: readonly Kind[],
): Extract<FaultEffect, { kind: Kind }> | undefined {
  return isOneOf(effect, kinds) ? effect : undefined;
}

function isOneOf<Kind extends FaultEffect['kind']>(
  effect: FaultEffect,
  kinds: readonly Kind[],
): effect is Extract<FaultEffect, { kind: Kind }> {
  return kinds.some((kind) => kind === effect.kind);
}

function count<Kind>({ effect, asked }: Drawn<Kind>): Drawn<Kind>['effect'] {
  for (const counter of asked) counter.count();
  return effect;
}

/** A rule that makes the service misbehave on purpose, to test what depends on it. */
export interface FaultRule {
  /** Such as `POST`; `*` is any. */
  readonly method: string;
  /** Glob of the path: `*` and `?` stay within a segment, `**` does not. */
  readonly path: string;
  readonly effect: FaultEffect;
  readonly when: FaultWhen;
}

export type FaultEffect =
  /** An error with this status, and nothing is done. */
  | { readonly kind: 'status'; readonly status: FaultStatus; readonly retryAfter?: number }
  /** The answer begins so much later. */
  | { readonly kind: 'delay'; readonly ms: number }
  | BodyCut
  /** A job that is accepted ends so. */
  | { readonly kind: 'job'; readonly outcome: JobFault };

/** The answer stops after so many bytes of its body: with a reset, or with an orderly end. */
export interface BodyCut {
  readonly kind: 'reset' | 'truncate';
  readonly afterBytes: number;
}

export type JobFault = 'fail' | 'partial_fail';

/** Which of the requests that a rule is asked about it acts on. */
export type FaultWhen =
  | { readonly kind: 'always' }
  | { readonly kind: 'first'; readonly times: number }
  | { readonly kind: 'every'; readonly every: number };

/**
 * A matcher for the path of a request, as it is written in the request: `*` is any part of a segment,
 * `?` one character of it, `**` any number of segments; everything else is itself.
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

/** The request of an endpoint, as fault rules see it. */
export function requestLineOf(endpoint: string): RequestLine {
  const found = ENDPOINTS.find(({ id }) => id === endpoint);
  if (found === undefined) throw new TypeError(`there is no endpoint ${endpoint}`);
  return found;
}

/** The error that a status rule answers with: the code of the service that stands for that status. */
export function statusFault({
  status,
  retryAfter,
}: Extract<FaultEffect, { kind: 'status' }>): ServiceError {
  const headers = retryAfter === undefined ? undefined : { 'Retry-After': String(retryAfter) };
  const message = `A fault rule of this service answers ${status}; nothing was done`;
  return new ServiceError(CODE_OF_STATUS[status], message, { headers });
}
