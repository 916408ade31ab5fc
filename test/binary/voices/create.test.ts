import { describe, expect, test } from 'vitest';
import { parseJsonDocument } from '../../harness/json-lines.ts';
import type { Fixture } from '../support/fixture.ts';
import { createFixture } from '../support/fixture.ts';
import { putRecording, tone } from './recordings.ts';
import { debrisIn, json, MADE, onCreate } from './voice-fixture.ts';
import type { RecordedRequest } from '../../fault-server/recorded-request.ts';

/** A scene with recordings, and a service that makes a voice of them. */
async function maker(made: unknown = MADE): Promise<Fixture> {
  const fixture = await createFixture([onCreate(json(made))]);
  for (const name of ['one.wav', 'two.WAV']) await putRecording(fixture.sandbox, name);
  return fixture;
}

describe('voices create', () => {
  test('sends the form of the spec, and prints the id alone', async () => {
    const fixture = await maker();
    const flags = ['--description', 'Clear & low', '--reference-text', 'What I say.'];
    const more = ['--visibility', 'public', '--language', 'en', '--language', 'de-CH'];
    const args = ['voices', 'create', 'Ada', 'one.wav', 'two.WAV', ...flags, ...more];
    const result = await fixture.run([...args, '--language', 'en']);
    expect(result).toMatchObject({ code: 0 });
    expect(result.stdout.toString()).toBe('v-new\n');
    expect(result.stderr).toContain('created the voice "Ada"');
    expect(result.stderr).toContain('`foley tts -v v-new` speaks with it');
    const request = await fixture.server.received();
    expect(request.header('content-length')).toBe(`${request.body.length}`);
    expect(request.header('idempotency-key')).toBeUndefined();
    const form = await formOf(request);
    const texts = ['name', 'description', 'referenceText', 'visibility', 'languages'];
    expect(texts.map((name) => form.getAll(name))).toStrictEqual([
      ['Ada'],
      ['Clear & low'],
      ['What I say.'],
      ['public'],
      ['["en","de-CH"]'],
    ]);
    const files = form.getAll('audioFiles');
    expect(files.map((file) => file instanceof File && [file.name, file.type])).toStrictEqual([
      ['one.wav', 'audio/wav'],
      ['two.WAV', 'audio/wav'],
    ]);
    for (const file of files) {
      expect(Buffer.from(await new Response(file).arrayBuffer())).toStrictEqual(tone());
    }
    expect([...form.keys()]).toHaveLength(7);
  });

  test('sends only what was given, and leaves nothing behind', async () => {
    const fixture = await maker();
    expect((await fixture.run(['voices', 'clone', 'Ada', 'one.wav'])).code).toBe(0);
    const form = await formOf(await fixture.server.received());
    expect([...form.keys()]).toStrictEqual(['name', 'audioFiles']);
    expect(await debrisIn(fixture.sandbox)).toStrictEqual([]);
  });

  test.each([
    ['as v1 has it', MADE, MADE.createdAt],
    ['as v3 has it', { voiceId: 'v-new', name: 'Ada', requestId: 'r', languages: ['en'] }, null],
    ['in another envelope', { data: MADE, creditsUsed: 3 }, MADE.createdAt],
  ])('with --json is one document: %s', async (_, made, createdAt) => {
    const fixture = await maker(made);
    const result = await fixture.run(['voices', 'create', 'Ada', 'one.wav', '--json', '-q']);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(parseJsonDocument(result.stdout)).toStrictEqual({
      voiceId: 'v-new',
      name: 'Ada',
      createdAt,
      requestId: expect.any(String),
      creditsUsed: 'creditsUsed' in made ? 3 : null,
      quotaRemaining: null,
      target: 'hosted',
      raw: made,
    });
  });

  test('sends the ids that were given', async () => {
    const fixture = await maker();
    const ids = ['--request-id', 'mine', '--idempotency-key', 'key-1'];
    await fixture.run(['voices', 'create', 'Ada', 'one.wav', ...ids]);
    const request = await fixture.server.received();
    expect(request.header('x-request-id')).toBe('mine');
    expect(request.header('idempotency-key')).toBe('key-1');
  });

  test('--dry-run shows the request and sends nothing', async () => {
    const fixture = await createFixture([]);
    await putRecording(fixture.sandbox, 'one.wav');
    const args = ['voices', 'create', 'Ada', 'one.wav', '--language', 'en', '--dry-run', '--json'];
    const result = await fixture.run(args);
    expect(parseJsonDocument(result.stdout)).toMatchObject({
      method: 'POST',
      url: expect.stringMatching(/\/api\/open\/v1\/voices$/),
      headers: { authorization: 'Bearer [redacted]' },
      body: [
        { name: 'name', value: 'Ada' },
        { name: 'languages', value: '["en"]' },
        { name: 'audioFiles', file: 'one.wav', contentType: 'audio/wav', bytes: tone().length },
      ],
    });
    expect(fixture.server.connections).toBe(0);
  });

  test('a file name of any script arrives as it is, and none breaks out of its header', async () => {
    const fixture = await maker();
    const names = ['Añño–日本.wav', 'two words "quoted".wav', 'line\nend.wav', '-dash.wav'];
    for (const name of names) await putRecording(fixture.sandbox, name);
    const result = await fixture.run(['voices', 'create', 'Ada', '--', ...names]);
    expect(result.code, result.stderr).toBe(0);
    const form = await formOf(await fixture.server.received());
    const arrived = form.getAll('audioFiles').map((file) => file instanceof File && file.name);
    expect(arrived).toStrictEqual(names);
  });
});

/** What a form has, read by Node's own reader of forms. */
async function formOf({ body, header }: RecordedRequest): Promise<FormData> {
  const headers = { 'content-type': header('content-type') ?? '' };
  return new Response(new Uint8Array(body), { headers }).formData();
}
