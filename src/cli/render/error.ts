import { createRedactor } from '../../api/redact.ts';
import { Failure } from '../../errors/failure.ts';
import type { Io } from '../io.ts';
import { display, toJson } from '../../text/display.ts';

const LONGEST_LINE = 2_000;

/** Anything that was thrown, as the failure that a person may meet. */
export function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new Failure(`internal error: ${withoutSecrets(message)}`, {
    code: 'internal',
    exit: 'internal',
    hint: 'This is a bug in foley. Please report it with the output of the same command and --verbose.',
    billed: 'unknown',
    cause: error,
  });
}

/** Tells on stderr what happened and what to do. */
export function renderError(
  failure: Failure,
  io: Io,
  options: { json: boolean; verbose: boolean },
): void {
  if (options.json) {
    io.complain(errorLine(failure));
    return;
  }
  const { paint } = io.err;
  const facts = [
    failure.status === undefined ? undefined : failure.code,
    failure.requestId === undefined ? undefined : `request ${failure.requestId}`,
  ].filter((fact) => fact !== undefined);
  const suffix = facts.length === 0 ? '' : ` (${facts.join(', ')})`;
  const line = display(failure.message + suffix, { max: LONGEST_LINE });
  io.explain(`${paint.red('foley:')} ${line}`);
  if (failure.hint !== undefined) io.explain(display(failure.hint, { max: LONGEST_LINE }));
  if (options.verbose && failure.exit === 'internal') complainStack(failure, io);
}

/** The last line of stderr with `--json`. */
function errorLine(failure: Failure): string {
  return toJson({
    error: {
      code: failure.code,
      message: failure.message,
      exitCode: failure.exitCode,
      status: failure.status ?? null,
      requestId: failure.requestId ?? null,
      hint: failure.hint ?? null,
      billed: failure.billed,
      retryAfter: failure.retryAfter ?? null,
      details: failure.details ?? null,
    },
  });
}

function complainStack(failure: Failure, io: Io): void {
  const { cause } = failure;
  const stack = cause instanceof Error ? cause.stack : undefined;
  for (const line of withoutSecrets(stack ?? '').split('\n')) io.complain(display(line));
}

/** Libraries put headers and addresses into what they throw. */
function withoutSecrets(text: string): string {
  return createRedactor([]).text(text);
}
