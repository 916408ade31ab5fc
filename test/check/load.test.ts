import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { VOICES } from '../../src/service/voices/catalogue-voice.ts';
import { SPEECH_PATH } from '../fault-server/healthy-service.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { readBooks } from '../binary/support/books.ts';
import { firstVoiceId, startServe } from '../binary/support/serve.ts';
import { expectSound } from '../binary/support/sound.ts';

const IS_FULL = process.env['FOLEY_TEST_SIZE'] === 'full';
const CLIENTS = 64;
/** In the full size about a minute on two cores; `bench/load.mjs` measures it by the clock. */
const TURNS = IS_FULL ? 32 : 2;
const GROWTH_LIMIT = 1.3;
/**
 * Who listens to audio for long on a busy machine comes back to a connection that is just being closed
 * for its silence, and then has no answer of the service to look at.
 */
const ONCE = { Connection: 'close' };

test(
  `${CLIENTS} clients that ask ${TURNS} times without a pause all get their audio, in bounded memory`,
  async () => {
    const sandbox = await createSandbox();
    const dataDir = path.join(sandbox.out, 'data');
    const service = await startServe(['--data-dir', dataDir], { sandbox, timeoutMs: 3_600_000 });
    const voiceId = await firstVoiceId(service);
    const residents: number[] = [];
    const client = async (number: number): Promise<void> => {
      for (let turn = 0; turn < TURNS; turn += 1) {
        const body = { text: `Client ${number} asks again.`, voiceId, format: 'mp3' };
        const order = { method: 'POST', body, headers: ONCE } as const;
        const { status, bytes } = await service.ask(SPEECH_PATH, order);
        expect(status, bytes.toString()).toBe(200);
        const { durationMs } = await expectSound(bytes);
        expect(durationMs).toBeGreaterThan(500);
        residents.push(residentBytes(service.running.pid));
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
    if (IS_FULL) {
      const half = residents.length / 2;
      expect(Math.max(...residents) / Math.max(...residents.slice(0, half))).toBeLessThan(
        GROWTH_LIMIT,
      );
    }
    service.running.signal('SIGTERM');
    await service.running.done;
    const { faults, operations } = await readBooks(dataDir);
    expect(faults).toEqual([]);
    expect(operations).toHaveLength(CLIENTS * TURNS);
    expect(new Set(operations.map(({ state }) => state))).toEqual(new Set(['completed']));
  },
  IS_FULL ? 3_600_000 : 300_000,
);

test('beyond --max-waiting requests get 429 with the time to wait, and another account its share', async () => {
  const sandbox = await createSandbox();
  await writeFile(
    path.join(sandbox.out, 'keys'),
    'crowd-key-0123456789 crowd\nalone-key-0123456789 alone\n',
    {
      mode: 0o600,
    },
  );
  const flags = ['--max-waiting', '4', '--accept-keys-file', path.join(sandbox.out, 'keys')];
  const service = await startServe(flags, { sandbox });
  const crowdOrder = orderOf(
    'crowd-key-0123456789',
    'A sentence that takes a while to be spoken. '.repeat(3),
  );
  const crowd = Array.from({ length: 24 }, () => service.ask(SPEECH_PATH, crowdOrder));
  const alone = service.ask(SPEECH_PATH, orderOf('alone-key-0123456789', 'Let me in.'));
  const answers = await Promise.all(crowd);
  const statuses = answers.map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  for (const { bytes, headers } of answers.filter(({ status }) => status === 429)) {
    expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(JSON.parse(bytes.toString())).toMatchObject({
      code: 'ERR_RATE_LIMITED',
      details: { maxWaiting: 4 },
    });
  }
  const { status, bytes } = await alone;
  expect(status, bytes.toString()).toBe(200);
});

function orderOf(key: string, text: string) {
  const headers = { ...ONCE, Authorization: `Bearer ${key}` };
  return { method: 'POST', headers, body: { text, voiceId: VOICES[0]?.id } } as const;
}

/** Undefined where the platform does not report it. */
function residentBytes(pid: number): number {
  if (process.platform !== 'linux') return 1;
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}
