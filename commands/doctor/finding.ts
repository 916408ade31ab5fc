import type { Context } from '../../src/cli/command.ts';
import { Interrupted } from '../../src/cli/signals.ts';
import { Failure } from '../../src/errors/failure.ts';
import type { Target } from '../../src/target/resolve.ts';

/** What one check found; a problem must be mended before foley works as it should. */
export interface Finding {
  readonly state: 'ok' | 'warning' | 'problem';
  readonly text: string;
  /** How to mend it. */
  readonly hint?: string | undefined;
}

/** What several checks need, found once. */
export interface Shared {
  /** Which service commands talk to. Throws a Failure when that cannot be said. */
  readonly target: () => Promise<Target>;
}

/** Looks at one thing. A check may throw: what it throws is a problem. */
export interface Check {
  readonly name: string;
  readonly look: (context: Context, shared: Shared) => Promise<readonly Finding[]>;
}

export function ok(text: string): Finding {
  return { state: 'ok', text };
}

export function warning(text: string, hint?: string): Finding {
  return { state: 'warning', text, hint };
}

export function problem(text: string, hint?: string): Finding {
  return { state: 'problem', text, hint };
}

/**
 * What was thrown, as a finding: whoever asks what is wrong wants to know of a bug, too.
 * @throws Interrupted
 */
export function problemOf(error: unknown): Finding {
  if (error instanceof Interrupted) throw error;
  if (error instanceof Failure) return problem(error.message, error.hint);
  const message = error instanceof Error ? error.message : String(error);
  return problem(message, 'This is a bug in foley; please report it.');
}
