import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  ALIGNED_PATH,
  audioEvent,
  completedEvent,
  events,
  eventsAround,
  eventsThenCut,
  eventText,
  snapshotEvent,
} from '../../fault-server/faults/aligned.ts';
import { resetBeforeHeaders } from '../../fault-server/faults/cut.ts';
import { errorAnswer } from '../../fault-server/faults/status.ts';
import { chunk, head } from '../../fault-server/http-text.ts';
import type { Answer, Rule } from '../../fault-server/script.ts';
import { repeat } from '../../fault-server/steps.ts';
import { parseErrorLine } from '../../harness/error-line.ts';
import { parseJsonDocument } from '../../harness/json-lines.ts';
import type { Fixture } from '../../binary/support/fixture.ts';
import {
  filesLeft,
  KEPT,
  NO_RIGHTS,
  OPEN,
  outputOf,
  paidAudio,
  RATES,
  createFixture,
  spooled,
} from '../../binary/support/fixture.ts';
import type { Payload } from '../../fault-server/tiny-audio.ts';

const { mp3 } = await paidAudio();
const half = mp3.bytes.subarray(0, Math.floor(mp3.bytes.length / 2));
const CAPTIONS = ['--subtitles', 'hi.srt', '--timings', 'hi.json'] as const;
const OLDER = ['hi.mp3', 'hi.srt', 'hi.json'];
const LEFT = OLDER.map((name) => `out/${name}`).sort();

/** Bytes that the system buffers between both ends may hold. */
const MOST_AHEAD = 32_000_000;

function onAligned(answer: Answer): Rule {
  return { method: 'POST', path: ALIGNED_PATH, answer };
}

/** Creates a scene with an older file of every name. */
async function fixtureWithOlder(answer: Answer): Promise<Fixture> {
  const fixture = await createFixture([onAligned(answer)]);
  for (const name of OLDER) await writeFile(path.join(fixture.sandbox.out, name), `older ${name}`);
  return fixture;
}

async function expectOlder({ sandbox }: Fixture): Promise<void> {
  for (const name of OLDER)
    expect((await outputOf(sandbox, name)).toString()).toBe(`older ${name}`);
}

test('a complete stream: audio and captions are published, with the cost of the last event', async () => {
  const fixture = await fixtureWithOlder(events(...wholeEvents(mp3)));
  const result = await fixture.speak([...CAPTIONS, '--json']);
  expect(result.code, result.stderr).toBe(0);
  expect(parseJsonDocument(result.stdout)).toMatchObject({
    requestId: 'r-aligned',
    creditsUsed: 2,
    captions: {
      items: [
        { output: 'hi.srt', format: 'srt', cues: 1 },
        { output: 'hi.json', format: 'json', cues: null },
      ],
      complete: true,
    },
  });
  expect(await outputOf(fixture.sandbox)).toStrictEqual(mp3.bytes);
  expect((await outputOf(fixture.sandbox, 'hi.srt')).toString()).toContain('\nhi\n');
  const timings: unknown = JSON.parse((await outputOf(fixture.sandbox, 'hi.json')).toString());
  expect(timings).toMatchObject({
    text: 'hi',
    complete: true,
    words: [{ text: 'hi', startMs: 20 }],
  });
  expect(await filesLeft(fixture.sandbox)).toStrictEqual([...LEFT, RATES].sort());
});

describe('an incomplete stream publishes nothing and spools the billed audio', () => {
  const begun = audioEvent(half);
  test.each<[string, Answer, number, string]>([
    ['ends without its last event', events(begun), 25, 'without a completed event'],
    ['is cut within an event', eventsThenCut(begun, audioEvent(half).slice(0, -9)), 25, ''],
    [
      'has audio that is not base64',
      events(begun, eventText('audio', { audioBase64: '*!' })),
      25,
      'base64',
    ],
    [
      'has data that is not JSON',
      events(begun, 'event: audio\ndata: {\n\n', completedEvent()),
      25,
      'JSON',
    ],
    [
      'reports a failure',
      events(begun, eventText('error', { code: 'provider_timeout' })),
      23,
      'provider_timeout',
    ],
    [
      'reports used up credits',
      events(begun, eventText('error', { code: 'quota_exceeded' })),
      21,
      'quota_exceeded',
    ],
    ['fails with an unknown code', events(begun, eventText('error', { code: 'new' })), 23, 'new'],
  ])('%s', async (_name, answer, exitCode, message) => {
    const fixture = await fixtureWithOlder(answer);
    const error = await fixture.fail([...CAPTIONS, '--json']);
    expect(error).toMatchObject({ exitCode, billed: 'yes' });
    expect(error.message).toContain(message);
    expect(error.hint).toContain('is saved in');
    await expectOlder(fixture);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([...LEFT, ...KEPT].sort());
    const { audio, record } = await spooled(fixture.sandbox);
    expect(audio).toStrictEqual(half);
    expect(record).toMatchObject({ complete: false, creditsUsed: 2 });
    expect(fixture.server.requests).toHaveLength(1);
    const recovered = await fixture.run(['recover', '--json']);
    expect(recovered.code).toBe(27);
  });

  test('sends only heartbeats after its beginning: idle timeout', async () => {
    const beats = chunk(Buffer.from(': heartbeat\n\n'));
    const bytes = beats.kind === 'write' ? beats.bytes : half;
    const fixture = await fixtureWithOlder([
      head(200, {
        'Content-Type': 'text/event-stream',
        'X-OpenAPI-Credits-Used': '2',
        'Transfer-Encoding': 'chunked',
      }),
      chunk(Buffer.from(begun)),
      repeat(bytes, Infinity),
    ]);
    const error = await fixture.fail([...CAPTIONS, '--idle-timeout', '700ms']);
    expect(error).toMatchObject({ exitCode: 25, billed: 'yes' });
    expect(error.message).toContain('only heartbeats');
    await expectOlder(fixture);
  });

  test('has an event without an end: refused at its limit', async () => {
    const fixture = await fixtureWithOlder([
      head(200, { 'Content-Type': 'text/event-stream', Connection: 'close' }),
      ...[begun, 'event: audio\ndata: {"audioBase64":"'].map((text) => repeat(text, 1)),
      repeat('A'.repeat(65_536), Infinity),
    ]);
    const running = await fixture.start([...SPEAKING, ...CAPTIONS, '--json']);
    const result = await running.done;
    const error = parseErrorLine(result.stderr);
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer' });
    expect(error.message).toContain('larger than');
    await expectOlder(fixture);
  });
});

const TO_STDOUT = ['tts', 'hi', '-o', '-', '--max-retries', '0', '-v', 'v-1'];
const SPEAKING = ['tts', 'hi', '-o', 'hi.mp3', '--max-retries', '0', '-v', 'v-1'];

test.each<readonly [string, ...(readonly string[])]>([
  [
    'that the service took back',
    snapshotEvent(0, [['hi', 0, 100]]),
    audioEvent(mp3.bytes),
    eventText('alignment_invalidated', { chunkSeq: 0 }),
    completedEvent('partial'),
  ],
  [
    'after the end of the audio',
    snapshotEvent(0, [['hi', 10_000, 10_400]]),
    audioEvent(mp3.bytes),
    completedEvent('complete'),
  ],
])('times %s are left out and reported with exit 3', async (_what, ...stream) => {
  const fixture = await createFixture([onAligned(events(...stream))]);
  const result = await fixture.speak([...CAPTIONS]);
  expect(result.code).toBe(3);
  expect(result.stderr).toContain('did not time all of this text');
  const timings: unknown = JSON.parse((await outputOf(fixture.sandbox, 'hi.json')).toString());
  expect(timings).toMatchObject({ complete: false, words: [] });
  expect((await outputOf(fixture.sandbox, 'hi.srt')).toString()).toContain('\nhi\n');
  expect(await outputOf(fixture.sandbox)).toStrictEqual(mp3.bytes);
});

test('without a response: the hint names the idempotency key', async () => {
  const fixture = await createFixture([onAligned(resetBeforeHeaders())]);
  const error = await fixture.fail([...CAPTIONS, '--max-retries', '0']);
  const request = fixture.server.requests.find(({ path: asked }) => asked === ALIGNED_PATH);
  expect(error).toMatchObject({ exitCode: 26, billed: 'unknown' });
  expect(error.hint).toContain(`--idempotency-key ${request?.header('idempotency-key')}`);
});

describe('unwritable captions', () => {
  test('in a missing folder: nothing is sent', async () => {
    const fixture = await createFixture([]);
    const error = await fixture.fail(['--subtitles', 'no/hi.srt']);
    expect(error).toMatchObject({ exitCode: 30, billed: 'no' });
    expect(fixture.server.requests).toHaveLength(0);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([]);
  });

  test('on a full disk: no audio is published, all of it is spooled', async () => {
    const words = Array.from({ length: 4_000 }, (): [string, number, number] => ['hi', 0, 400]);
    const all = [snapshotEvent(0, words), audioEvent(mp3.bytes), completedEvent()];
    const fixture = await fixtureWithOlder(events(...all));
    const args = [...SPEAKING, ...CAPTIONS, '--json'].join(' ');
    const result = await fixture.shell(`ulimit -f 100; foley ${args}`);
    expect(parseErrorLine(result.stderr)).toMatchObject({ exitCode: 30, billed: 'yes' });
    await expectOlder(fixture);
    expect((await spooled(fixture.sandbox)).audio).toStrictEqual(mp3.bytes);
    expect((await fixture.run(['recover'])).code).toBe(0);
    expect(await outputOf(fixture.sandbox, 'hi-2.mp3')).toStrictEqual(mp3.bytes);
  });

  test('on a full device: the audio is published and named', async () => {
    const fixture = await createFixture([onAligned(events(...wholeEvents(mp3)))], NO_RIGHTS);
    await fixture.shell('ln -s /dev/full hi.srt');
    const error = await fixture.fail(['--subtitles', 'hi.srt']);
    expect(error).toMatchObject({ exitCode: 30, code: 'output', billed: 'yes' });
    expect(error.hint).toContain('in hi.mp3');
    expect(await outputOf(fixture.sandbox)).toStrictEqual(mp3.bytes);
  });
});

describe('audio that goes to stdout', () => {
  test('captions go to their files', async () => {
    const fixture = await createFixture([onAligned(events(...wholeEvents(mp3)))]);
    const result = await fixture.speak([...CAPTIONS, '-o', '-']);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stdout).toStrictEqual(mp3.bytes);
    expect((await outputOf(fixture.sandbox, 'hi.srt')).toString()).toContain('\nhi\n');
  });

  test('a reader that stops slows a stream of any length', async () => {
    const framed = chunk(Buffer.from(audioEvent(mp3.bytes)));
    const bytes = framed.kind === 'write' ? framed.bytes : half;
    const fixture = await createFixture([
      onAligned([
        head(200, { 'Content-Type': 'text/event-stream', 'Transfer-Encoding': 'chunked' }),
        repeat(bytes, Infinity),
      ]),
    ]);
    const running = await fixture.start([...TO_STDOUT, ...CAPTIONS], { holdStdout: true });
    const { answer } = await fixture.server.received();
    let before = -1;
    const isStill = (): boolean => {
      const isSame = answer.bytesWritten === before && before > 0;
      before = answer.bytesWritten;
      return isSame;
    };
    await expect.poll(isStill, { interval: 150, timeout: 15_000 }).toBe(true);
    expect(before).toBeLessThan(MOST_AHEAD);
    running.closeOutput('stdout');
    expect(await running.done).toMatchObject({ code: 0 });
  });

  test('a closed reader ends the command silently, without captions', async () => {
    const large = Buffer.concat(Array.from({ length: 400 }, () => mp3.bytes));
    const fixture = await createFixture([
      onAligned(eventsAround([audioEvent(large)], [audioEvent(large), completedEvent()])),
    ]);
    const running = await fixture.start([...TO_STDOUT, ...CAPTIONS], { holdStdout: true });
    await fixture.server.received();
    running.closeOutput('stdout');
    expect(await running.done).toMatchObject({ code: 0, stderr: '' });
    expect(await filesLeft(fixture.sandbox)).not.toContain('out/hi.srt');
  });
});

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s halfway: received audio is spooled, older files stay',
  async (signal) => {
    const fixture = await fixtureWithOlder(eventsAround([audioEvent(half)], [completedEvent()]));
    const running = await fixture.start([...SPEAKING, ...CAPTIONS, '--verbose']);
    await running.waitFor('stderr', /POST \S+\/aligned 200/);
    running.signal(signal);
    expect(await running.done).toMatchObject({ code: null, signal });
    await expectOlder(fixture);
    expect(
      (await filesLeft(fixture.sandbox)).filter((name) => name.startsWith('out/')),
    ).toStrictEqual(LEFT);
  },
);

test('killed halfway: recover reports it, and sends nothing', async () => {
  const fixture = await fixtureWithOlder(eventsAround([audioEvent(half)], [completedEvent()]));
  const running = await fixture.start([...SPEAKING, ...CAPTIONS, '--verbose']);
  await running.waitFor('stderr', /POST \S+\/aligned 200/);
  await fixture.server.paused();
  running.signal('SIGKILL');
  await running.done;
  await expectOlder(fixture);
  const recovered = await fixture.run(['recover', '--json']);
  // The acceptance may not be on the disk yet.
  const [code, outcome] = recovered.code === 27 ? [27, 'lost'] : [26, 'unknown'];
  expect(recovered.code).toBe(code);
  expect(parseJsonDocument(recovered.stdout)).toMatchObject({ items: [{ outcome }] });
  await expectOlder(fixture);
  expect(fixture.server.requests).toHaveLength(1);
});

test('no response: unknown outcome, and the same key retries', async () => {
  const fixture = await createFixture([onAligned([])]);
  const running = await fixture.start([
    ...SPEAKING,
    ...CAPTIONS,
    '--response-timeout',
    '300ms',
    '--json',
  ]);
  const error = parseErrorLine((await running.done).stderr);
  expect(error).toMatchObject({ exitCode: 26, billed: 'unknown' });
  expect(await filesLeft(fixture.sandbox)).toStrictEqual([OPEN]);
});

test('a refusal for another reason is reported unchanged', async () => {
  const message = 'The text is not allowed.';
  const refusal = errorAnswer(400, { code: 'ERR_INVALID_REQUEST', message, requestId: 'r-1' });
  const fixture = await createFixture([onAligned(refusal)]);
  expect(await fixture.fail(['--via', 'aligned', '-m', 'not-listed'])).toMatchObject({
    exitCode: 20,
    message: expect.stringContaining(message),
    billed: 'no',
  });
});

test('a model without aligned streams is named in the error', async () => {
  const refusal = errorAnswer(400, {
    code: 'ERR_INVALID_REQUEST',
    message: 'No.',
    requestId: 'r-1',
  });
  const fixture = await createFixture([onAligned(refusal)]);
  const error = await fixture.fail(['--via', 'aligned', '-m', 'vendor-s21pro']);
  expect(error).toMatchObject({ exitCode: 20, billed: 'no' });
  expect(error.message).toContain(
    'word times require aligned streams, but the model vendor-s21pro does not have them',
  );
});

/** A whole stream of "hi" in two packets. */
function wholeEvents({ bytes }: Payload): readonly string[] {
  const middle = Math.floor(bytes.length / 2);
  return [
    audioEvent(bytes.subarray(0, middle)),
    snapshotEvent(0, [['hi', 20, 400]]),
    audioEvent(bytes.subarray(middle)),
    completedEvent(),
  ];
}
