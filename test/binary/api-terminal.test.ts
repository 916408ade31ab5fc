import { describe, expect, test } from 'vitest';
import * as faults from '../fault-server/catalogue.ts';
import { startFaultServer } from '../fault-server/fault-server.ts';
import { SPEECH_PATH } from '../fault-server/healthy-service.ts';
import { answer } from '../fault-server/http-text.ts';
import type { Answer } from '../fault-server/script.ts';
import { tinyAudio } from '../fault-server/tiny-audio.ts';
import { hosted } from '../harness/hosted.ts';
import type { RunResult } from '../harness/run-options.ts';
import { startInTerminal } from '../harness/terminal.ts';
import { unsafeCharacters } from '../harness/unsafe-characters.ts';

const PATH = '/api/open/v9/thing';

/** What a terminal shows of an answer. */
async function shown(reply: Answer, ...more: readonly string[]): Promise<RunResult> {
  const server = await startFaultServer([{ path: PATH, answer: reply }]);
  const running = await startInTerminal(['api', 'GET', PATH, ...more], { env: hosted(server) });
  return running.done;
}

function ofType(type: string, text: string): Answer {
  return answer(200, { 'Content-Type': type }, text);
}

describe('on a terminal', () => {
  test('JSON has lines', async () => {
    const result = await shown(ofType('application/json', '{"a":[1],"b":"x"}'));
    expect(result.stdout.toString()).toBe('{\r\n  "a": [\r\n    1\r\n  ],\r\n  "b": "x"\r\n}\r\n');
  });

  test('JSON that is none is shown as it is', async () => {
    const result = await shown(ofType('application/json', '{"a":'));
    expect(result).toMatchObject({ code: 0 });
    expect(result.stdout.toString()).toBe('{"a":\r\n');
  });

  test('events are shown as lines', async () => {
    const result = await shown(ofType('text/event-stream', 'event: audio\ndata: {}\n\n'));
    expect(result.stdout.toString()).toBe('event: audio\r\ndata: {}\r\n\r\n');
  });

  test.each([
    ['JSON', ofType('application/json', JSON.stringify(faults.HOSTILE_STRINGS))],
    ['text', ofType('text/plain', Object.values(faults.HOSTILE_STRINGS).join('\n'))],
  ])('hostile %s does no harm', async (_kind, reply) => {
    const result = await shown(reply);
    expect(result.code).toBe(0);
    expect(result.stdout.toString()).toContain('EVIL');
    expect(unsafeCharacters(result.stdout.toString().replaceAll('\r\n', '\n'))).toEqual([]);
  });

  test('audio is refused before it is asked for', async () => {
    const server = await startFaultServer([]);
    const args = ['api', 'POST', SPEECH_PATH, '-F', 'text=hi'];
    const running = await startInTerminal(args, { env: hosted(server) });
    const result = await running.done;
    expect(result).toMatchObject({ code: 2 });
    expect(result.stdout.toString()).toContain('which a terminal cannot show');
    expect(server.connections).toBe(0);
  });

  test('unexpected bytes are refused when they arrive', async () => {
    const { mp3 } = await tinyAudio();
    const result = await shown(faults.audio(mp3));
    expect(result).toMatchObject({ code: 30 });
    expect(result.stdout.toString()).toContain('the response is audio/mpeg');
    expect(result.stdout.toString()).not.toContain('ID3');
  });
});
