import { expect, test } from 'vitest';
import { repeatAfterCuts } from '../../src/api/download.ts';
import { TransportError } from '../../src/api/transport/transport-error.ts';
import { systemClock } from '../../src/system/clock.ts';
import { systemRandom } from '../../src/system/random.ts';
import { Failure } from '../../src/errors/failure.ts';

const RETRY = {
  clock: systemClock,
  maxRetries: 2,
  random: { ...systemRandom, fraction: () => 0 },
};

function cut(): Failure {
  const cause = new TransportError('cut', 'localhost:1');
  return new Failure('cut off', { code: 'bad_answer', exit: 'badAnswer', cause });
}

test('a download that is cut is continued as often as the client retries', async () => {
  let attempts = 0;
  const attempt = (): Promise<void> => {
    attempts += 1;
    return Promise.reject(cut());
  };
  await expect(repeatAfterCuts(attempt, RETRY, {})).rejects.toThrow('cut off');
  expect(attempts).toBe(3);
});

test('bytes beyond those of earlier attempts allow as many retries again', async () => {
  let attempts = 0;
  const attempt = (): Promise<string> => {
    attempts += 1;
    return attempts < 8 ? Promise.reject(cut()) : Promise.resolve('whole');
  };
  expect(await repeatAfterCuts(attempt, RETRY, { position: () => attempts })).toBe('whole');
});

test('a rest that the service cannot send is not asked for again', async () => {
  let attempts = 0;
  const attempt = (before: Failure | undefined): Promise<void> => {
    attempts += 1;
    return Promise.reject(before ?? cut());
  };
  await expect(repeatAfterCuts(attempt, RETRY, {})).rejects.toThrow('cut off');
  expect(attempts).toBe(2);
});
