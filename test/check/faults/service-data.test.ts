import { describe, expect, test } from 'vitest';
import * as faults from '../../fault-server/catalogue.ts';
import { VOICES_PATH } from '../../fault-server/healthy-service.ts';
import { answer } from '../../fault-server/http-text.ts';
import type { Step } from '../../fault-server/steps.ts';
import { errorLine } from '../../harness/error-line.ts';
import { parseJsonDocument } from '../../harness/json-lines.ts';
import {
  filesLeft,
  onSpeech,
  paidAudio,
  RATES,
  createFixture,
  VOICE,
} from '../../binary/support/fixture.ts';

const { mp3 } = await paidAudio();

describe('hostile file names', () => {
  test.each([
    ['../../../EVIL', 'evil.mp3'],
    ['/tmp/EVIL', 'tmp-evil.mp3'],
    ['..\\..\\EVIL', 'evil.mp3'],
    ['CON', 'con-file.mp3'],
    ['-rf', 'rf.mp3'],
    ['. . .', 'speech.mp3'],
    ['EVIL. ', 'evil.mp3'],
    ['x'.repeat(300), `${'x'.repeat(40)}.mp3`],
    ['\u202Egnp.exe', 'gnp-exe.mp3'],
    ['日本語', 'speech.mp3'],
  ])('the name made from %j stays in the folder', async (text, name) => {
    const fixture = await createFixture([]);
    const result = await fixture.run(['tts', '-v', VOICE, '--json', '--', text]);
    expect(result.code).toBe(0);
    expect(parseJsonDocument(result.stdout)).toMatchObject({ output: name });
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([`out/${name}`, RATES]);
  });

  test('the file name of a server is not used', async () => {
    const headers = { ...mp3.headers, 'Content-Disposition': 'attachment; filename="../../EVIL"' };
    const fixture = await createFixture([onSpeech(faults.audio({ ...mp3, headers }))]);
    expect((await fixture.run(['tts', 'hi', '-v', VOICE, '--json'])).code).toBe(0);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(['out/hi.mp3', RATES]);
  });

  test('an interim response cannot name a file either', async () => {
    const hints = { 'Content-Disposition': 'attachment; filename="/tmp/EVIL"' };
    const fixture = await createFixture([onSpeech(faults.informationalFlood(mp3, 3, 103, hints))]);
    expect((await fixture.speak()).code).toBe(0);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(['out/hi.mp3', RATES]);
  });

  test.each(['.', '..', '../../profile', 'a/b', 'a?x=1', 'a#b', '%2e%2e'])(
    'an id in a URL stays an id: %s',
    async (id) => {
      const fixture = await createFixture([]);
      const error = errorLine(await fixture.run(['voices', 'get', '--json', '--', id]));
      expect([2, 20]).toContain(error.exitCode);
      const [request] = fixture.server.requests;
      const path = request?.path ?? `${VOICES_PATH}/x`;
      expect(path).toMatch(/^\/api\/open\/v3\/voices\/[^/]+$/);
    },
  );
});

describe('harmful JSON', () => {
  test('keys that change prototypes change nothing', async () => {
    const fixture = await createFixture([onSpeech(faults.prototypeBody(400))]);
    const error = await fixture.fail(['--max-retries', '4']);
    expect(error).toMatchObject({ exitCode: 20, code: 'ERR_PROTO', requestId: 'r-proto' });
    expect(fixture.server.requests).toHaveLength(1);
    const voices = await createFixture([{ path: VOICES_PATH, answer: faults.prototypeBody(200) }]);
    expect((await voices.run(['voices', 'list'])).code).toBe(0);
  });

  test.each<[string, Step[]]>([
    ['arrays in arrays', faults.deepJson(100_000)],
    ['a document that stops', faults.cutJson()],
    ['100 MB', faults.hugeJson(100_000_000)],
    ['no JSON', json(200, 'null and void')],
    ['null', json(200, 'null')],
    ['another shape', json(200, '{"items":{}}')],
    ['items of another shape', json(200, '{"items":[{"voiceId":["x"]}]}')],
    [
      'no UTF-8',
      answer(200, { 'Content-Type': 'application/json' }, Buffer.from([0x22, 0xff, 0x22])),
    ],
  ])('%s: exit 25', async (_what, steps) => {
    const fixture = await createFixture([{ path: VOICES_PATH, answer: steps }]);
    const running = await fixture.start(['voices', 'list', '--json', '--max-retries', '4']);
    const error = errorLine(await running.done);
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'no' });
    expect(fixture.server.requests).toHaveLength(1);
  });

  test('deeply nested errors have no message', async () => {
    const fixture = await createFixture([onSpeech(faults.deepJson(100_000, 400))]);
    const error = await fixture.fail();
    expect(error).toMatchObject({ exitCode: 20, status: 400, code: 'bad_answer', details: null });
  });
});

function json(status: number, body: string): Step[] {
  return answer(status, { 'Content-Type': 'application/json' }, body);
}
