import type { RecordedRequest } from './recorded-request.ts';
import type { Step } from './steps.ts';

/** What the server does with a request; a function where the answer depends on what was sent. */
export type Answer = readonly Step[] | ((request: RecordedRequest) => readonly Step[]);

/**
 * One line of a script. The first rule that fits a request answers it. A rule that is not optional
 * must have answered something when the test ends, so that no fault is only imagined.
 */
export interface Rule {
  /** Any method without it. */
  readonly method?: string;
  /** The path without its query, as a whole or as a pattern; any path without it. */
  readonly path?: string | RegExp;
  /** Answers only the nth request (from 1) that comes to this rule. */
  readonly nth?: number;
  /** Answers only so many requests. */
  readonly times?: number;
  /** Answers as soon as the head is there, while the client may still send its body. */
  readonly answerAt?: 'head' | 'body';
  readonly optional?: boolean;
  readonly answer: Answer;
}

interface Entry {
  readonly rule: Rule;
  seen: number;
  answered: number;
}

/** A script with the count of what was used of it. */
export class Script {
  readonly #entries: readonly Entry[];

  constructor(rules: readonly Rule[]) {
    this.#entries = rules.map((rule) => ({ rule, seen: 0, answered: 0 }));
  }

  /** The rule that answers this request, or undefined when none fits. */
  take(request: Pick<RecordedRequest, 'method' | 'path'>): Rule | undefined {
    for (const entry of this.#entries) {
      if (!matches(entry.rule, request)) {
        continue;
      }
      entry.seen += 1;
      const isItsTurn = entry.rule.nth === undefined || entry.rule.nth === entry.seen;
      if (isItsTurn && entry.answered < (entry.rule.times ?? Infinity)) {
        entry.answered += 1;
        return entry.rule;
      }
    }
    return undefined;
  }

  /** Rules that had to answer and never did, in words. */
  unused(): string[] {
    return this.#entries
      .filter(({ rule, answered }) => answered === 0 && rule.optional !== true)
      .map(({ rule }) => describe(rule));
  }
}

function matches(rule: Rule, request: Pick<RecordedRequest, 'method' | 'path'>): boolean {
  const isMethod = rule.method === undefined || rule.method === request.method;
  if (rule.path === undefined || typeof rule.path === 'string') {
    return isMethod && (rule.path === undefined || rule.path === request.path);
  }
  return isMethod && rule.path.test(request.path);
}

function describe(rule: Rule): string {
  const turn = rule.nth === undefined ? '' : ` (request ${rule.nth} of its kind)`;
  return `${rule.method ?? 'any method'} ${String(rule.path ?? 'any path')}${turn}`;
}
