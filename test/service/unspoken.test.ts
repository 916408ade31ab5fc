import { describe, expect, it, test, vi } from 'vitest';
import { componentSchemas } from '../../src/service/openapi/document.ts';
import { VERSIONS } from '../realtime/messages.ts';
import { parseEvents } from '../harness/read-events.ts';
import { jobService, JOBS } from './jobs/job-service.ts';
import { plainRequest, realtimeService } from './realtime/realtime-service.ts';
import { BASE_URL, jsonPost, testService, voiceId } from './support/test-service.ts';

const UNSPOKEN = 'X-Foley-Unspoken';
const CLARA = voiceId('Clara');
const TEXT = 'Hello 你好 world';

describe('a voice that cannot speak some letters of a text', () => {
  it.each([
    ['/api/open/v3/speech/tts', { text: TEXT, voiceId: CLARA }],
    ['/api/open/v3/speech/tts/aligned', { text: TEXT, voiceId: CLARA }],
    ['/api/open/v2/speech/tts', { text: TEXT, voiceId: CLARA }],
    ['/api/open/v1/speech/tts', { text: TEXT, voiceId: CLARA }],
    ['/v1/tts', { text: TEXT, reference_id: CLARA }],
    ['/v1/audio/speech', { input: TEXT, voice: CLARA, model: 'vendor-s21pro' }],
  ])('is reported by a header of %s', async (path, body) => {
    const { call } = await testService();
    const response = await call(path, jsonPost(body));
    expect(response.status).toBe(200);
    expect(response.headers.get(UNSPOKEN)).toBe('6-8');
    await response.arrayBuffer();
  });

  it('is not reported without such letters: emoji, signs and accents do not count', async () => {
    const { speak } = await testService();
    for (const text of ['Hello world', 'Naïve 🙂 — €5 → “½”']) {
      const response = await speak({ text, voiceId: CLARA });
      expect(response.headers.has(UNSPOKEN)).toBe(false);
      await response.arrayBuffer();
    }
  });

  it('is still a 400 if nothing can be spoken', async () => {
    const { speak, engine } = await testService();
    // The engine of the tests speaks all letters.
    const request = { text: '你好', voice: 'clara', speed: 1, pitch: 0 };
    expect(engine.unspoken?.(request)).toEqual([{ start: 0, end: 2 }]);
    const response = await speak({ text: '!!! 🙂', voiceId: CLARA });
    expect(response.status).toBe(400);
    expect(response.headers.has(UNSPOKEN)).toBe(false);
  });

  it('ends an aligned stream with a partial alignment', async () => {
    const { call } = await testService();
    const body = { text: TEXT, voiceId: CLARA };
    const response = await call('/api/open/v3/speech/tts/aligned', jsonPost(body));
    const { last } = parseEvents(await response.text());
    expect(last).toMatchObject({ name: 'completed', data: { alignmentStatus: 'partial' } });
  });

  it('is reported with positions of the submitted text, also behind removed kaomoji', async () => {
    const { speak } = await testService();
    const text = '(◕‿◕) Hello 你(◕‿◕)好 ಠ_ಠ world 再见';
    const points = Array.from(text);
    const response = await speak({ text, voiceId: CLARA, filterEmoji: true });
    const parts = (response.headers.get(UNSPOKEN) ?? '').split(',').map((range) => {
      const [start, end] = range.split('-').map(Number);
      return points.slice(start, end).join('');
    });
    expect(parts).toEqual(['你', '好', '再见']);
    await response.arrayBuffer();
  });

  it.each([
    ['audio', '/api/open/v3/speech/tts'],
    ['an aligned stream', '/api/open/v3/speech/tts/aligned'],
  ])('asks the engine once for %s, with the reading that the request chose', async (_, path) => {
    const { call, engine } = await testService();
    const unspoken = vi.spyOn(engine, 'unspoken');
    for (const textNormalization of [true, false]) {
      unspoken.mockClear();
      const body = { text: TEXT, voiceId: CLARA, textNormalization };
      await (await call(path, jsonPost(body))).arrayBuffer();
      expect(unspoken.mock.calls).toEqual([
        [expect.objectContaining({ text: TEXT, textNormalization })],
      ]);
    }
  });

  it('reports a letter that is read by its name only if the text is spoken as it is written', async () => {
    const { speak } = await testService();
    for (const [textNormalization, expected] of [
      [true, null],
      [false, '3-4'],
    ]) {
      const response = await speak({ text: '10 μm', voiceId: CLARA, textNormalization });
      expect(response.headers.get(UNSPOKEN)).toBe(expected);
      await response.arrayBuffer();
    }
  });

  it('looks at each range a few times behind removed kaomoji', async () => {
    const { engine, speak } = await testService();
    let looks = 0;
    const ranges = Array.from({ length: 500 }, (_, index) => ({
      get start() {
        looks += 1;
        return 3 * index + 1;
      },
      end: 3 * index + 2,
    }));
    vi.spyOn(engine, 'unspoken').mockReturnValue(ranges);
    const text = 'a你b(◕‿◕)'.repeat(500);
    const response = await speak({ text, voiceId: CLARA, filterEmoji: true });
    expect(response.headers.get(UNSPOKEN)?.split(',')).toHaveLength(256);
    expect(looks).toBeLessThan(10 * ranges.length);
    await response.arrayBuffer();
  });

  it('keeps the header short for a text in which every other letter is left out', async () => {
    const { speak } = await testService();
    const response = await speak({ text: '你a'.repeat(4_000), voiceId: CLARA });
    const header = response.headers.get(UNSPOKEN) ?? '';
    expect(header.split(',')).toHaveLength(256);
    expect(header.length).toBeLessThan(4_000);
    await response.arrayBuffer();
  });

  it('is reported with stored audio of v1, also for a replay, and at the audio’s address', async () => {
    const { call, service } = await testService();
    const ask = () =>
      call(
        '/api/open/v1/speech/tts',
        jsonPost({ text: TEXT, voiceId: CLARA, cache: true }, { 'X-Request-Id': 'again' }),
      );
    for (const response of [await ask(), await ask()]) {
      expect(response.headers.get(UNSPOKEN)).toBe('6-8');
      const { audio_url: url } = Object(await response.json());
      const audio = await service.fetch(new Request(url));
      expect(audio.headers.get(UNSPOKEN)).toBe('6-8');
      await audio.arrayBuffer();
    }
  });

  it('is reported with the audio of a job, in v3 and v1, whole or a range', async () => {
    const { call, create, ended, service } = await jobService();
    const id = await create({ text: TEXT });
    await ended(id);
    const path = `${JOBS}/${id}/audio`;
    for (const init of [{}, { method: 'HEAD' }, { headers: { Range: 'bytes=0-9' } }]) {
      expect((await call(path, init)).headers.get(UNSPOKEN)).toBe('6-8');
    }
    expect((await call(`${JOBS}/${id}/segments/0`)).headers.has(UNSPOKEN)).toBe(false);
    const redirect = await call(`/api/open/tts/jobs/${id}/audio`);
    const link = new URL(redirect.headers.get('Location') ?? '', BASE_URL);
    expect((await service.fetch(new Request(link))).headers.get(UNSPOKEN)).toBe('6-8');
    const plain = await create({ text: 'Hello' });
    await ended(plain);
    expect((await call(`${JOBS}/${plain}/audio`)).headers.has(UNSPOKEN)).toBe(false);
  });
});

describe.each(VERSIONS)('a realtime conversation of %s', (version) => {
  test('warns about letters that the voice leaves out, in simple mode', async () => {
    const { connect } = await realtimeService();
    const client = await connect(version);
    await client.expect('authenticated');
    client.send({ event: 'start', request: plainRequest(version) });
    await client.expect('ready');
    client.send({ event: 'input', text: TEXT });
    const messages = await client.until('finish');
    const warnings = messages.filter(({ event }) => event === 'warning');
    expect(warnings).toMatchObject([{ code: 'unspoken_text', unspoken: '6-8' }]);
    expect(warnings[0]).not.toHaveProperty('segmentId');
    expect(messages.at(-1)).toMatchObject({ reason: 'completed' });
  });

  test('names the segment in reliable mode, and is silent about others', async () => {
    const { connect } = await realtimeService();
    const client = await connect(version);
    await client.expect('authenticated');
    const request = plainRequest(version);
    client.send({ event: 'start', mode: 'reliable', requestId: 'r', request });
    await client.expect('ready');
    for (const [index, text] of ['One 🙂.', `${TEXT}.`].entries()) {
      client.send({ event: 'text', sequence: index + 1, text });
      client.send({ event: 'flush', segmentId: `s${index + 1}` });
    }
    client.send({ event: 'stop' });
    const messages = await client.until('finish');
    expect(messages.filter(({ event }) => event === 'warning')).toMatchObject([
      { code: 'unspoken_text', unspoken: '6-8', segmentId: 's2' },
    ]);
  });
});

test('the OpenAPI document describes the header wherever the service sends it', async () => {
  expect(componentSchemas()).toBeDefined();
  const { call } = await testService();
  const response = await call('/api/open/v3/openapi.json');
  const { paths } = Object(await response.json());
  const described = Object.entries(Object(paths)).flatMap(([path, methods]) =>
    Object.values(Object(methods)).some(
      (method) => UNSPOKEN in Object(Object(Object(method).responses)['200']?.headers),
    )
      ? [path]
      : [],
  );
  expect(described).toContain('/api/open/v3/speech/tts');
  expect(described).toContain('/api/open/v3/speech/tts/aligned');
  expect(described).toContain('/api/open/v3/speech/tts/jobs/{jobId}/audio');
  expect(described).not.toContain('/api/open/v3/speech/tts/jobs/{jobId}/segments/{segmentIndex}');
});
