import { expect } from 'vitest';
import { EXIT_CODES } from '../../src/contract/exit-codes.ts';
import type { RunResult } from './run-options.ts';

/** What `--json` says of a failure on stderr's last line. */
export interface ErrorLine {
  readonly code: string;
  readonly message: string;
  readonly exitCode: number;
  readonly status: number | null;
  readonly requestId: string | null;
  readonly hint: string | null;
  readonly billed: 'no' | 'yes' | 'unknown';
  readonly retryAfter: number | null;
  readonly details: Readonly<Record<string, unknown>> | null;
}

const FAILURE_CODES: readonly number[] = Object.values(EXIT_CODES)
  .map(({ code }) => code)
  .filter((code) => code !== EXIT_CODES.ok.code);

/** Reads the error line of a run, checks its exact shape and that it names the real exit code. */
export function errorLine(result: RunResult): ErrorLine {
  const error = parseErrorLine(result.stderr);
  expect(error.exitCode, 'the exit code that the error line names').toBe(result.code);
  return error;
}

/** Reads the last line of stderr as the JSON error line; fails on any missing or further field. */
export function parseErrorLine(stderr: string): ErrorLine {
  expect(stderr.endsWith('\n'), `stderr ends with a newline:\n${stderr}`).toBe(true);
  const line = stderr.slice(0, -1).split('\n').at(-1) ?? '';
  const parsed: unknown = JSON.parse(line);
  expect(parsed).toStrictEqual({
    error: {
      code: expect.stringMatching(/\S/),
      message: expect.stringMatching(/\S/),
      exitCode: expect.toBeOneOf([...FAILURE_CODES]),
      status: expect.toBeOneOf([null, expect.any(Number)]),
      requestId: expect.toBeOneOf([null, expect.any(String)]),
      hint: expect.toBeOneOf([null, expect.stringMatching(/\S/)]),
      billed: expect.toBeOneOf(['no', 'yes', 'unknown']),
      retryAfter: expect.toBeOneOf([null, expect.any(Number)]),
      details: expect.toBeOneOf([null, expect.any(Object)]),
    },
  });
  assertChecked(parsed);
  return parsed.error;
}

/** The matcher above has checked every field; this is for the compiler only. */
function assertChecked(parsed: unknown): asserts parsed is { error: ErrorLine } {
  expect(parsed).toHaveProperty('error');
}
