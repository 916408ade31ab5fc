import { audio } from '../../fault-server/faults/wrong-answer.ts';
import { answer } from '../../fault-server/http-text.ts';
import type { RecordedRequest } from '../../fault-server/recorded-request.ts';
import type { Answer, Rule } from '../../fault-server/script.ts';
import type { Step } from '../../fault-server/steps.ts';
import { tinyAudio } from '../../fault-server/tiny-audio.ts';
import type { Fixture } from '../support/fixture.ts';
import { createFixture } from '../support/fixture.ts';

export const JOB_ID = 'job-1';
export const JOBS_PATH = '/api/open/v3/speech/tts/jobs';
export const JOB_PATH = `${JOBS_PATH}/${JOB_ID}`;
export const AUDIO_PATH = `${JOB_PATH}/audio`;
export const JOBS_V1_PATH = '/api/open/v1/speech/tts/jobs';
export const AUDIO_V1_PATH = `/api/open/tts/jobs/${JOB_ID}/audio`;

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** Answers of the same request, one after the other; the last one stays. */
export function answersInSequence(...answers: readonly Step[][]): Answer {
  let turn = 0;
  return () => answers[Math.min(turn++, answers.length - 1)] ?? [];
}

/** A job of v3 as create and poll answer it (docs/api/jobs.md#v3), with what the test adds. */
export function jobAnswer(
  status: string,
  { retryAfter = '0', code = 200, ...task }: JobMore = {},
): Step[] {
  const wait = retryAfter === null ? {} : { 'Retry-After': retryAfter };
  return answer(
    code,
    { ...JSON_TYPE, ...wait },
    JSON.stringify({
      task: { taskId: JOB_ID, status, voiceId: 'v', modelId: 'm', ...task },
      requestId: `r-${status}`,
      quotaRemaining: 90,
      creditsUsed: 7,
      ignoredParameters: ['pitch'],
      somethingNew: { from: 'a later service' },
    }),
  );
}

interface JobMore {
  /** The header; null is none. */
  readonly retryAfter?: string | null;
  readonly code?: number;
  readonly [field: string]: unknown;
}

/** A job of v1 (docs/api/jobs.md#v1). */
export function jobV1Answer(status: string, code = 200, segments?: readonly object[]): Step[] {
  return answer(
    code,
    { ...JSON_TYPE, 'Retry-After': '0' },
    JSON.stringify({
      task: {
        id: 'record-7',
        taskId: JOB_ID,
        status,
        audioUrl: AUDIO_V1_PATH,
        delivery: { playbackUrl: AUDIO_V1_PATH, downloadUrl: null, downloadReady: true },
        ...(segments === undefined ? {} : { segments }),
      },
      record: { id: 'record-7', status },
      requestId: 'r-v1',
      quotaRemaining: 90,
      creditsUsed: 7,
    }),
  );
}

export function onCreate(given: Answer, more: Partial<Rule> = {}): Rule {
  return { method: 'POST', path: JOBS_PATH, answer: given, ...more };
}

export function onPoll(given: Answer, more: Partial<Rule> = {}): Rule {
  return { method: 'GET', path: JOB_PATH, answer: given, ...more };
}

export function onAudio(given: Answer, more: Partial<Rule> = {}): Rule {
  return { method: 'GET', path: AUDIO_PATH, answer: given, ...more };
}

/** A hosted service whose job `job-1` is done when it is asked for the second time. */
export async function jobFixture(rules: readonly Rule[] = []): Promise<Fixture> {
  const { mp3 } = await tinyAudio();
  const optional = true;
  return createFixture([
    ...rules,
    onCreate(jobAnswer('pending', { code: 202 }), { optional }),
    onPoll(answersInSequence(jobAnswer('processing'), jobAnswer('success')), { optional }),
    onAudio(audio(mp3), { optional }),
  ]);
}

/** The requests that came to a path. */
export function requestsTo({ server }: Fixture, path: string): readonly RecordedRequest[] {
  return server.requests.filter((request) => request.path === path);
}
