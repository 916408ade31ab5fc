import { describe, expect, test } from 'vitest';
import { answer } from '../fault-server/http-text.ts';
import { SPEECH_PATH, VOICES_PATH } from '../fault-server/healthy-service.ts';
import { errorLine } from '../harness/error-line.ts';
import { runFoley } from '../harness/run-foley.ts';
import { startHostedService } from './support/hosted-service.ts';
import { startServe } from './support/serve.ts';

const MISTAKES: readonly (readonly [args: string, hint: string])[] = [
  ['tts Hello. -v clara', 'That is a voice name: use --voice-name "Clara".'],
  ['tts Hello. -v Marrtin', 'Did you mean --voice-name "Martin"?'],
  ['jobs create Hello. -v clara', 'That is a voice name: use --voice-name "Clara".'],
  ['live Hello. -v clara', 'That is a voice name: use --voice-name "Clara".'],
  ['tts Hello. --voice-name Clra', 'Did you mean Clara?'],
  ['tts Hello. --voice-name Clara -m vendor-s21pro-flsh', 'Did you mean vendor-s21pro-flash?'],
  ['live Hello. --voice-name Clara -m vendor-s21pro-flsh', 'Did you mean vendor-s21pro-flash?'],
  ['tts Hello. -v zzzzzzzz', '`foley voices list` lists the voices.'],
  ['tts Hello. --voice-name Clara -m zzzzzzzz', '`foley models` lists the models.'],
  ['tts Hello. --format mp4', 'Did you mean mp3?'],
];

describe('a mistaken name is answered with what was probably meant', () => {
  test('of voices, models and formats', { timeout: 120_000 }, async () => {
    const { env } = await startServe();
    for (const [args, hint] of MISTAKES) {
      const result = await runFoley([...args.split(' '), '--json'], { env });
      expect(errorLine(result), args).toMatchObject({ hint });
    }
  });

  test('where the list cannot be had, the failure stays as it is', async () => {
    const body = JSON.stringify({ code: 'ERR_VOICE_NOT_FOUND', message: 'no such voice' });
    const headers = { 'Content-Type': 'application/json' };
    const { env, server } = await startHostedService([
      { method: 'POST', path: SPEECH_PATH, answer: answer(404, headers, body) },
      { method: 'GET', path: VOICES_PATH, answer: answer(500, headers, '{}') },
    ]);
    const flags = ['-v', 'clara', '--max-retries', '0', '--json', '-o', 'a.mp3'];
    const result = await runFoley(['tts', 'Hello.', ...flags], { env });
    expect(result.code).toBe(20);
    expect(errorLine(result)).toMatchObject({
      code: 'ERR_VOICE_NOT_FOUND',
      hint: 'Check the id and the account.',
    });
    expect(server.requests.filter(({ path }) => path === VOICES_PATH)).toHaveLength(1);
  });
});
