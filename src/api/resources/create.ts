import { Failure } from '../../errors/failure.ts';
import type { Answer, UnknownRecord } from '../response.ts';
import { badAnswer, isRecord } from '../response.ts';
import { charged } from '../audio-response.ts';
import { readJson } from '../client.ts';

/** What a create answered, with what it cost. */
export interface CreateAnswer {
  /** What was made, out of whatever it is wrapped in. */
  readonly made: UnknownRecord;
  readonly requestId: string;
  readonly creditsUsed: number | undefined;
  readonly quotaRemaining: number | undefined;
  /** The whole answer. */
  readonly raw: unknown;
}

/**
 * Reads the JSON answer to a create.
 * @param wrappers fields that what was made may be in
 * @throws Failure (bad_answer), after which nobody knows whether it was made and billed
 */
export async function readCreateAnswer(
  answer: Answer,
  wrappers: readonly string[],
): Promise<CreateAnswer> {
  const raw = await readJson(answer).catch((error: unknown) => {
    throw error instanceof Failure ? charged(error) : error;
  });
  const body = isRecord(raw) ? raw : {};
  const billing = isRecord(body['billing']) ? body['billing'] : {};
  const { creditsUsed, quotaRemaining } = answer.headers;
  return {
    made: wrappers.map((name) => body[name]).find((value) => isRecord(value)) ?? body,
    requestId: firstText(body['requestId']) ?? answer.requestId,
    creditsUsed: firstNumber(billing['creditsUsed'], body['creditsUsed']) ?? creditsUsed,
    quotaRemaining:
      firstNumber(billing['quotaRemaining'], body['quotaRemaining']) ?? quotaRemaining,
    raw,
  };
}

/** A create whose answer does not tell what was made. */
export function namesNothing(what: string, answer: Answer): Failure {
  return charged(badAnswer(`the answer names no ${what}`, answer));
}

export function firstText(...values: readonly unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value !== '');
}

function firstNumber(...values: readonly unknown[]): number | undefined {
  return values.find((value): value is number => typeof value === 'number');
}
