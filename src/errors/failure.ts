import type { ExitCode, ExitName } from '../contract/exit-codes.ts';
import { EXIT_CODES } from '../contract/exit-codes.ts';

/** Whether the failed request may have cost credits. */
export type Billed = 'no' | 'yes' | 'unknown';

/** Error codes of foley. For an error of the service, the JSON error line contains the service's code instead. */
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
  readonly code: FailureCode | (string & {});
  readonly exit: ExitName;
  /** What the user can do next, as one sentence. foley prints the hint on a separate line. */
  readonly hint?: string | undefined;
  readonly billed?: Billed | undefined;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  /** Seconds to wait before a retry, as requested by the service. */
  readonly retryAfter?: number | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
}

/** An error in the JSON result of a command that processes several items. */
export interface FailureSummary {
  readonly code: string;
  readonly message: string;
  readonly exitCode: ExitCode;
}

/**
 * An error for users and scripts: what failed (`message`), what to do (`hint`) and the exit code (`exit`). To
 * distinguish errors, code must compare `code` or `exit`, never `message`.
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

  /** The fields of this error in the JSON result of a command that processes several items. */
  get summary(): FailureSummary {
    return { code: this.code, message: this.message, exitCode: this.exitCode };
  }
}

/** Creates a failure for wrong usage of the command line. Nothing was sent. */
export function usageFailure(message: string, hint?: string): Failure {
  return new Failure(message, { code: 'usage', exit: 'usage', hint });
}

/** Creates a failure for an invalid configuration. Nothing was sent. */
export function configFailure(message: string, hint?: string): Failure {
  return new Failure(message, { code: 'config', exit: 'usage', hint });
}
