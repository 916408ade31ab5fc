import { answer } from '../../fault-server/http-text.ts';
import type { HeaderLines } from '../../fault-server/http-text.ts';
import type { Answer, Rule } from '../../fault-server/script.ts';
import type { Step } from '../../fault-server/steps.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { filesLeft } from '../support/fixture.ts';

export const VOICES_V1 = '/api/open/v1/voices';
export const DESIGNS = '/api/open/v1/voice-designs';

/** The answer to a create as the spec has it (section 2.1). */
export const MADE = {
  voiceId: 'v-new',
  title: 'Ada',
  description: 'Clear',
  createdAt: '2026-01-01T00:00:00Z',
};

const isFull = process.env['FOLEY_TEST_SIZE'] === 'full';

/** Every row in the full size, else every nth: rows that differ little go the same way. */
export function everyNth<Row>(nth: number, rows: readonly Row[]): readonly Row[] {
  return isFull ? rows : rows.filter((_, index) => index % nth === 0);
}

/** A JSON answer. */
export function json(body: unknown, headers: HeaderLines = {}, status = 200): Step[] {
  return answer(status, { 'Content-Type': 'application/json', ...headers }, JSON.stringify(body));
}

/** Every file in the sandbox but recordings, and the names that shells complete. */
export async function debrisIn(sandbox: Sandbox): Promise<string[]> {
  const left = await filesLeft(sandbox);
  return left.filter((name) => !/^out\/[^/]*\.wav$|^cache\/foley\/names\//i.test(name));
}

/** A rule for the making of a voice. */
export function onCreate(
  reply: Answer = json(MADE),
  more: Pick<Rule, 'answerAt' | 'nth' | 'optional' | 'times'> = {},
): Rule {
  return { method: 'POST', path: VOICES_V1, answer: reply, ...more };
}
