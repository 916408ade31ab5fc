import type { ExitCode, ExitName } from '../contract/exit-codes.ts';
import { EXIT_CODES } from '../contract/exit-codes.ts';

/** Whether credits may have been spent by the request that failed. */
export type Billed = 'no' | 'yes' | 'unknown';

/**
 * The tool's own error codes of the JSON error line. A failure that the
 * service reported carries the service's code instead.
 */
export type FailureCode =
  | 'usage'
  | 'config'
  | 'no_key'
  | 'network'
  | 'timeout'
  | 'bad_answer'
  | 'unknown_outcome'
  | 'lost'
  | 'deadline'
  | 'output'
  | 'exists'
  | 'state'
  | 'internal';

export interface FailureOptions {
  /** The tool's code, or the service's where the service named one. */
  readonly code: FailureCode | (string & {});
  readonly exit: ExitName;
  /** What to do next, one sentence; shown on a line of its own. */
  readonly hint?: string | undefined;
  readonly billed?: Billed | undefined;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  /** Seconds after which the service wants to be asked again. */
  readonly retryAfter?: number | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
}

/**
 * Every error that a person or a script may meet: what happened (`message`), what to do (`hint`)
 * and how the process ends (`exit`). It is made where the error is born; nothing is classified
 * later by the words of a message.
 */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly code: string;
  readonly exit: ExitName;
  readonly hint: string | undefined;
  readonly billed: Billed;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(message: string, options: FailureOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code;
    this.exit = options.exit;
    this.hint = options.hint;
    this.billed = options.billed ?? 'no';
    this.status = options.status;
    this.requestId = options.requestId;
    this.retryAfter = options.retryAfter;
    this.details = options.details;
  }

  get exitCode(): ExitCode {
    return EXIT_CODES[this.exit].code;
  }
}

/** The command line itself is wrong; nothing was sent. */
export function usageFailure(message: string, hint?: string): Failure {
  return new Failure(message, { code: 'usage', exit: 'usage', hint });
}

/** A setting, a project file or a combination of settings is wrong; nothing was sent. */
export function configFailure(message: string, hint?: string): Failure {
  return new Failure(message, { code: 'config', exit: 'usage', hint });
}
