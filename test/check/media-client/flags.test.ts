import { devNull } from 'node:os';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { errorLine } from '../../harness/error-line.ts';
import { createFixture } from '../../binary/support/fixture.ts';
import { everyNth } from '../../binary/voices/voice-fixture.ts';
import {
  AUDIO_URL,
  CREATES,
  job,
  leftIn,
  onCreate,
  PATHS,
  VIDEO_URL,
} from '../../binary/media-client/media-fixture.ts';

const { dub: DUB, image: IMAGE, lipsync: LIPSYNC, video: VIDEO } = CREATES;

/** What is refused before anything is sent: the words, and what the message has to name. */
const REFUSED: readonly (readonly [args: readonly string[], message: RegExp])[] = [
  [['lipsync', 'create', '--audio', 'https://a.test/b.wav'], /--video/],
  [['lipsync', 'create', '--video', 'https://a.test/b.mp4'], /--audio/],
  [lipsyncOf('', AUDIO_URL), /--video is empty/],
  [lipsyncOf('ftp://a.test/b', AUDIO_URL), /--video "ftp:/],
  [lipsyncOf('http://', AUDIO_URL), /--video "http:/],
  [lipsyncOf(VIDEO_URL, 'missing.wav'), /--audio "missing.wav": no such file/],
  [lipsyncOf(VIDEO_URL, 'folder'), /--audio "folder" is a folder/],
  [lipsyncOf(VIDEO_URL, 'empty.wav'), /--audio "empty.wav" is empty/],
  [lipsyncOf(VIDEO_URL, devNull), /is not a regular file/],
  [[...LIPSYNC, '-o', 'a.png'], /--output has the extension of png/],
  [[...LIPSYNC, '--timeout', '1s'], /--timeout requires --wait or -o/],
  [[...LIPSYNC, '--poll-interval', '1s'], /--poll-interval requires --wait or -o/],
  [[...LIPSYNC, '--no-clobber'], /--no-clobber requires -o/],
  [[...LIPSYNC, '--timeout', 'soon', '--wait'], /--timeout is "soon"/],
  [[...LIPSYNC, '--idempotency-key', 'k'.repeat(129)], /at most 128/],
  [[...LIPSYNC, '--model', 'm'], /unknown option|--model/],
  [[...LIPSYNC, '-o', '-', '--json'], /--json and a video cannot both/],
  [['lipsync', 'list', '--page', '0'], /--page is "0"/],
  [['lipsync', 'list', '--limit', '101'], /--limit is "101"/],
  [['lipsync', 'list', '--status', ' '], /--status is empty/],
  [['lipsync', 'list', '--all', '--page', '2'], /--all|--page/],
  [['lipsync', 'get', '..'], /is not a valid id/],
  [['lipsync', 'wait'], /missing|id/],
  [['lipsync', 'download', 'x', '-o', 'a.wav'], /has the extension of wav/],
  [['dub', 'create', '--video', 'https://a.test/b.mp4', ' '], /the text of the arguments is empty/],
  [['dub', 'create', 'Hello.'], /--video/],
  [[...DUB, '--speed', '9'], /--speed is "9"/],
  [[...DUB, '--language', ''], /--language is empty/],
  [[...DUB, '-m', ''], /--model is empty/],
  [[...DUB, '--voice-name', 'Clara'], /--voice/],
  [[...DUB, '-f', 'text.txt'], /text is given twice/],
  [[...DUB, '-o', 'a.jpg'], /creates videos/],
  [['image', 'create', 'A lighthouse'], /--model/],
  [['image', 'create', ' ', '-m', 'x'], /PROMPT is empty/],
  [[...IMAGE, '--aspect-ratio', 'wide'], /--aspect-ratio is "wide"/],
  [[...IMAGE, '--aspect-ratio', '0:1'], /--aspect-ratio is "0:1"/],
  [[...IMAGE, '--resolution', '8k'], /--resolution is "8k"; it takes 1k, 2k, 4k/],
  [[...IMAGE, '--max-credits', '-1'], /--max-credits is "-1"/],
  [[...IMAGE, ...references(5)], /--image is given 5 times; at most 4/],
  [[...IMAGE, '--image', 'missing.png'], /--image "missing.png"/],
  [[...IMAGE, '-o', 'a.mp4'], /creates images/],
  [[...IMAGE, '--preview', '--json'], /--preview/],
  [[...IMAGE, '--preview', '-o', '-'], /--preview/],
  [[...IMAGE, '-o', '-', '--json'], /--json and an image cannot both/],
  [['video', 'create', 'A lighthouse'], /--model/],
  [[...VIDEO, '--seconds', '0'], /--seconds is "0"/],
  [[...VIDEO, '--seconds', 'long'], /--seconds is "long"/],
  [[...VIDEO, '--size', '640'], /--size is "640"/],
  [[...VIDEO, '--size', '0x0'], /--size is "0x0"/],
  [[...VIDEO, ...references(5)], /--image is given 5 times/],
  [[...VIDEO, '--resolution', '1k'], /unknown option|--resolution/],
];

function lipsyncOf(video: string, audio: string): string[] {
  return ['lipsync', 'create', '--video', video, '--audio', audio];
}

function url(index: number): string {
  return `https://a.test/${index}.png`;
}

function references(count: number): string[] {
  return Array.from({ length: count }, (_, index) => ['--image', url(index)]).flat();
}

test('bad words are exit 2, and nothing is sent', async () => {
  const fixture = await createFixture([]);
  await mkdir(path.join(fixture.sandbox.out, 'folder'));
  await writeFile(path.join(fixture.sandbox.out, 'empty.wav'), '');
  const runs = everyNth(3, REFUSED).map(([args, message]) => async () => {
    const result = await fixture.run([...args, ...(args.includes('--json') ? [] : ['--json'])]);
    const error = errorLine(result);
    expect([error.exitCode, error.message], args.join(' ')).toEqual([
      2,
      expect.stringMatching(message),
    ]);
  });
  for (const run of runs) await run();
  expect(fixture.server.requests).toEqual([]);
  expect(await leftIn(fixture.sandbox)).toEqual(['out/empty.wav']);
}, 120_000);

test('an existing output stays with --no-clobber', async () => {
  const fixture = await createFixture([]);
  await writeFile(path.join(fixture.sandbox.out, 'a.png'), 'older');
  const result = await fixture.run([...IMAGE, '-o', 'a.png', '--no-clobber', '--json']);
  expect(errorLine(result)).toMatchObject({ exitCode: 31, billed: 'no' });
  expect(fixture.server.requests).toEqual([]);
});

describe('what is sent', () => {
  test.each<[string, readonly string[], object]>([
    [
      'lipsync',
      [...LIPSYNC, '--extend'],
      {
        video_url: 'https://media.test/clip.mp4',
        audio_url: 'https://media.test/speech.wav',
        video_extension: true,
      },
    ],
    [
      'dub',
      [...DUB, '-m', 'm-1', '--speed', '1.5', '-l', 'en', '--fit'],
      {
        video_url: 'https://media.test/clip.mp4',
        text: 'Hello.',
        reference_id: 'voice-1',
        model_id: 'm-1',
        speed: 1.5,
        language: 'en',
        fit_audio_to_video: true,
      },
    ],
    [
      'dub',
      DUB,
      { video_url: 'https://media.test/clip.mp4', text: 'Hello.', reference_id: 'voice-1' },
    ],
    ['image', IMAGE, { prompt: 'A lighthouse', model: 'model-1' }],
    [
      'image',
      [...IMAGE, '--aspect-ratio', '16:9', '--resolution', '2k', ...references(1)],
      {
        prompt: 'A lighthouse',
        model: 'model-1',
        aspect_ratio: '16:9',
        resolution: '2k',
        image_url: url(0),
      },
    ],
    [
      'image',
      [...IMAGE, ...references(4)],
      { prompt: 'A lighthouse', model: 'model-1', image_urls: [url(0), url(1), url(2), url(3)] },
    ],
    [
      'video',
      [...VIDEO, '--seconds', '4', '--size', '640x360', ...references(2)],
      {
        prompt: 'A lighthouse',
        model: 'model-1',
        seconds: 4,
        size: '640x360',
        image_urls: [url(0), url(1)],
      },
    ],
  ])('%s: only what was given', async (noun, args, body) => {
    const kind = noun === 'lipsync' || noun === 'dub' || noun === 'image' ? noun : 'video';
    const fixture = await createFixture([onCreate(kind, job(kind, 'pending', { code: 202 }))]);
    const dry = await fixture.run([...args, '--dry-run', '--json']);
    expect(JSON.parse(dry.stdout.toString())).toMatchObject({
      method: 'POST',
      url: `${fixture.server.origin}${PATHS[kind]}`,
      body,
      headers: { authorization: expect.stringContaining('redacted') },
    });
    expect(fixture.server.requests).toEqual([]);
    const result = await fixture.run([
      ...args,
      '--idempotency-key',
      'mine',
      '--request-id',
      'trace-1',
    ]);
    expect(result.code, result.stderr).toBe(0);
    const [request] = fixture.server.requests;
    expect(JSON.parse(request?.body.toString() ?? '')).toEqual(body);
    expect(request?.header('idempotency-key')).toBe('mine');
    expect(request?.header('x-request-id')).toBe('trace-1');
  });
});
