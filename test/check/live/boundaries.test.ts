import { describe, expect, test } from 'vitest';
import { errorLine } from '../../harness/error-line.ts';
import { drop, serve } from '../../realtime/script.ts';
import type { Fault } from '../../realtime/script.ts';
import { startScriptedServer } from '../../realtime/scripted-server.ts';
import { spokenAudio } from '../../realtime/segment-audio.ts';
import { live, made, REQUEST_ID } from '../../binary/live/spoken.ts';

const IS_FULL = process.env['FOLEY_TEST_SIZE'] === 'full';
const TEXTS = Array.from({ length: 10 }, (_none, index) => `This is number ${index} of ten!`);
/** `authenticated`, `ready`, seven messages a segment, `finish`; and `start`, two a segment, `stop`. */
const SENT = 3 + 7 * TEXTS.length;
const RECEIVED = 2 + 2 * TEXTS.length;
/** In the small size a few boundaries, others in each case: test/live has all of them in one process. */
const STRIDE = IS_FULL ? 1 : 191;

const boundaries: readonly Fault[] = (
  [
    ['sent', SENT],
    ['received', RECEIVED],
  ] as const
).flatMap(([on, count]) =>
  Array.from({ length: count }, (_none, index) => index + 1).flatMap((number) =>
    (['before', 'after'] as const).map((when) => ({ on, number, when, steps: [drop()] })),
  ),
);

async function speakWith(faults: readonly Fault[], how: Case) {
  const [protocol, interrupted] = how;
  const server = await startScriptedServer({
    interrupted,
    connections: [{ steps: [serve({ faults })] }],
  });
  const result = await live(server, ['--protocol', protocol, '--json', '-o', 'a.pcm'], {
    input: TEXTS.join(' '),
  });
  const charged = server.book.charges.map(({ segmentId }) => segmentId);
  return { result, charged, server };
}

type Case = readonly ['v2' | 'v3', 'failed' | 'stored'];
const CASES: readonly Case[] = [
  ['v3', 'failed'],
  ['v3', 'stored'],
  ['v2', 'failed'],
  ['v2', 'stored'],
];
const ALL = TEXTS.map((_text, index) => `s${index + 1}`);
const UNDISTURBED = spokenAudio(TEXTS, 'pcm');

describe.each(CASES)('%s, segments in progress at a disconnect are %s', (...how) => {
  const first = CASES.findIndex((one) => one.join() === how.join()) * 41 + 13;
  const places = boundaries
    .filter((_fault, index) => (index - first) % STRIDE === 0)
    .map((fault) => [fault.when, fault.on, fault.number, fault] as const);
  test.each(places)(
    '%s message %s number %i',
    async (when, on, number, fault) => {
      const { charged, result, server } = await speakWith([fault], how);
      expect(new Set(charged).size, 'nothing is charged twice').toBe(charged.length);
      const isAfterTheEnd = on === 'sent' && number === SENT && when === 'after';
      expect(server.connections.length > 1 || server.requests.length > 0).toBe(!isAfterTheEnd);
      if (result.code === 27 && how[0] === 'v2') {
        const { billed, details, message, requestId } = errorLine(result);
        expect([billed, requestId]).toEqual(['yes', REQUEST_ID]);
        const lost = details?.['segments'] as readonly string[];
        expect(ALL).toEqual(expect.arrayContaining([...lost]));
        expect(lost.every((id) => message.includes(id))).toBe(true);
        return;
      }
      expect([result.code, result.stderr]).toEqual([0, expect.anything()]);
      expect((await made(result, 'a.pcm')).equals(UNDISTURBED)).toBe(true);
      expect(charged.toSorted()).toEqual(ALL.toSorted());
    },
    120_000,
  );
});
