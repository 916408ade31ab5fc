import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readTimings } from '../../../src/captions/timings.ts';
import type { Timings } from '../../../src/captions/timings.ts';
import {
  ALIGNED_PATH,
  audioEvent,
  completedEvent,
  events,
  eventsThenCut,
  snapshotEvent,
} from '../../fault-server/faults/aligned.ts';
import { errorAnswer } from '../../fault-server/faults/status.ts';
import type { RecordedRequest } from '../../fault-server/recorded-request.ts';
import type { Step } from '../../fault-server/steps.ts';
import { errorLine } from '../../harness/error-line.ts';
import { decodeAudio } from '../../harness/decode-audio.ts';
import type { Fixture } from '../../binary/support/fixture.ts';
import { filesLeft, outputOf, createFixture, VOICE } from '../../binary/support/fixture.ts';
import { MODEL, PART_TEXTS, partsService, soundsOf, TEXT } from './parts-service.ts';

const sounds = await soundsOf('wav', 'stream');
const COMPLETED = { code: 'ERR_REQUEST_ALREADY_COMPLETED', message: 'Done.', requestId: 'r' };
const REFUNDED = { ...COMPLETED, code: 'ERR_REQUEST_PREVIOUSLY_REFUNDED' };
const ARGS = ['tts', '-f', 'book.txt', '-v', VOICE, '-m', MODEL, '--max-retries', '0', '-o'];
const CAPTIONS = ['--subtitles', 'book.srt', '--timings', 'book.json'];
/** Start of the first word of each part, in milliseconds; only that word is timed. */
const WORD_AT_MS = 20;

interface AlignedFixture extends Fixture {
  /** Keys of the requests, by part. */
  readonly keys: readonly (readonly string[])[];
}

/**
 * A service whose stream of one part breaks the first time, after which that was completed. If `refunds`, it says of the
 * first key of that part that it refunded an earlier request, and breaks the stream of the second key.
 */
async function fixtureWithBreak(broken: number, refunds = false): Promise<AlignedFixture> {
  const keys = PART_TEXTS.map((): string[] => []);
  const answer = (request: RecordedRequest): readonly Step[] => {
    const { text }: { text: string } = JSON.parse(request.body.toString());
    const part = PART_TEXTS.indexOf(text);
    const key = request.header('idempotency-key') ?? '';
    const earlier = [...(keys[part] ?? [])];
    keys[part]?.push(key);
    const sound = sounds.get(text) ?? Buffer.alloc(0);
    if (part === broken) {
      const [refunded = key] = refunds ? earlier : [''];
      if (key === refunded) return errorAnswer(409, REFUNDED);
      const isFirst = earlier.every((one) => one === refunded);
      if (isFirst) return eventsThenCut(audioEvent(sound.subarray(0, 900)));
    }
    if (earlier.includes(key)) return errorAnswer(409, COMPLETED);
    const [word = ''] = text.split(' ');
    const words = snapshotEvent(0, [[word, WORD_AT_MS, WORD_AT_MS + 30]]);
    return events(words, audioEvent(sound), completedEvent());
  };
  const { rules } = partsService({ format: 'wav', sounds });
  const fixture = await createFixture([{ method: 'POST', path: ALIGNED_PATH, answer }, ...rules]);
  await writeFile(path.join(fixture.sandbox.out, 'book.txt'), TEXT);
  return { ...fixture, keys };
}

async function timingsOf({ sandbox }: Fixture): Promise<Timings> {
  return readTimings(JSON.parse((await outputOf(sandbox, 'book.json')).toString()), 'book.json');
}

test('a part that breaks: nothing is published; recover names it each time, and buys that part alone with --buy-lost', async () => {
  const fixture = await fixtureWithBreak(2);
  const error = errorLine(await fixture.run([...ARGS, 'book.wav', ...CAPTIONS, '--json']));
  expect(error).toMatchObject({ exitCode: 25, billed: 'yes' });
  const published = (await filesLeft(fixture.sandbox)).filter((name) => name.startsWith('out/'));
  expect(published).toStrictEqual(['out/book.txt']);
  const id = /foley recover (\S+?)`/.exec(error.hint ?? '')?.[1] ?? 'none';
  for (const _ of [1, 2, 3]) {
    const refused = await fixture.run(['recover', id]);
    expect(refused.code, refused.stderr).toBe(27);
    expect(refused.stdout.toString()).toMatch(
      new RegExp(
        `part 3 of \\d+ was billed.*\`foley recover ${id} --buy-lost\`: it speaks and bills this part`,
      ),
    );
  }
  expect(fixture.keys.every((keys) => new Set(keys).size <= 1)).toBe(true);
  // The first recovery learns that the part is lost; later ones do not send it again.
  expect(fixture.keys[2]).toHaveLength(2);
  const result = await fixture.run(['recover', id, '--buy-lost']);
  expect(result.code, result.stderr).toBe(0);
  expect(result.stderr).toContain(
    'the billed audio of part 3 is lost; the part is spoken and billed again',
  );
  expect(fixture.keys.map((keys) => new Set(keys).size)).toEqual(
    PART_TEXTS.map((_, part) => (part === 2 ? 2 : 1)),
  );
  const { durationMs } = await decodeAudio(await outputOf(fixture.sandbox, 'book.wav'));
  const { complete, text, words, ...timings } = await timingsOf(fixture);
  expect({ complete, text }).toEqual({ complete: true, text: TEXT });
  expect(Math.abs(timings.durationMs - durationMs)).toBeLessThanOrEqual(1);
  // Parts of raw samples begin where those before them end.
  const lengths = PART_TEXTS.map((part) => ((sounds.get(part)?.length ?? 44) - 44) / 2 / 16);
  const starts = lengths.map((_, part) =>
    lengths.slice(0, part).reduce((sum, one) => sum + one, 0),
  );
  expect(words.map(({ startMs }) => startMs)).toEqual(
    starts.map((start) => Math.round(start + WORD_AT_MS)),
  );
  expect((await outputOf(fixture.sandbox, 'book.srt')).toString()).toContain('Sentence number 0');
  // The broken part is reported as a leftover of its own, with its cost.
  const told = await fixture.run(['recover']);
  expect(told.code).toBe(27);
});

test('a part whose refunded request was sent with a new key is not bought a third time', async () => {
  const fixture = await fixtureWithBreak(2, true);
  const error = errorLine(await fixture.run([...ARGS, 'book.wav', ...CAPTIONS, '--json']));
  expect(error).toMatchObject({ exitCode: 25, billed: 'yes' });
  const id = /foley recover (\S+?)`/.exec(error.hint ?? '')?.[1] ?? 'none';
  const refused = await fixture.run(['recover', id]);
  expect(refused.code, refused.stderr).toBe(27);
  const [first, second, ...later] = fixture.keys[2] ?? [];
  expect(second).not.toBe(first);
  expect(later).toEqual([second]);
});

test('captions whose names were taken meanwhile get others', async () => {
  const fixture = await fixtureWithBreak(1);
  const error = errorLine(await fixture.run([...ARGS, 'book.wav', ...CAPTIONS, '--json']));
  await writeFile(path.join(fixture.sandbox.out, 'book.srt'), 'mine');
  const id = /foley recover (\S+?)`/.exec(error.hint ?? '')?.[1] ?? 'none';
  expect((await fixture.run(['recover', id])).code).toBe(27);
  expect((await fixture.run(['recover', id, '--buy-lost'])).code).toBe(0);
  expect((await outputOf(fixture.sandbox, 'book.srt')).toString()).toBe('mine');
  expect((await outputOf(fixture.sandbox, 'book-2.srt')).toString()).toContain('Sentence number 0');
});
