import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { startFaultServer } from '../../fault-server/fault-server.ts';
import { answer } from '../../fault-server/http-text.ts';
import type { Rule } from '../../fault-server/script.ts';
import { pause } from '../../fault-server/steps.ts';
import { tinyAudio } from '../../fault-server/tiny-audio.ts';
import { parseJsonDocument } from '../../harness/json-lines.ts';
import { startInTerminal } from '../../harness/terminal.ts';
import { createFixture } from '../support/fixture.ts';
import { debrisIn, DESIGNS, everyNth, json, MADE } from './voice-fixture.ts';

const { mp3, wav } = await tinyAudio();
const PROMPT = 'An old man, calm and slow';
const CREATE = ['design', 'create', PROMPT, '--preview-text', 'Good evening.'] as const;

/** Three candidates; the response has no preview URL for the second. */
const DESIGN = {
  designId: 'd-1',
  candidates: [
    { candidateId: 'c-1', previewAudioUrl: `${DESIGNS}/d-1/candidates/c-1/audio` },
    { candidateId: 'c-2' },
    { candidateId: 'c-3', previewAudioUrl: `${DESIGNS}/d-1/candidates/c-3/audio` },
  ],
  billing: { creditsUsed: 30, quotaRemaining: 70 },
  requestId: 'r-design',
};

function onDesign(design: unknown = DESIGN): Rule {
  return { method: 'POST', path: DESIGNS, answer: json(design) };
}

function onPreview(id: string, reply: Rule['answer']): Rule {
  return { method: 'GET', path: `${DESIGNS}/d-1/candidates/${id}/audio`, answer: reply };
}

function onSave(made: unknown = MADE): Rule {
  return { method: 'POST', path: `${DESIGNS}/d-1/voices`, answer: json(made) };
}

const MP3 = answer(200, { 'Content-Type': 'audio/mpeg' }, mp3.bytes);
const WAV = answer(200, { 'Content-Type': 'audio/wav' }, wav.bytes);
const PREVIEWS = [onPreview('c-1', MP3), onPreview('c-2', WAV), onPreview('c-3', MP3)];

describe('design create', () => {
  test('sends the request of the spec under a key, and lists the candidates', async () => {
    const fixture = await createFixture([onDesign()]);
    const providers = ['--provider', 'vendor', '--provider', 'altA'];
    const result = await fixture.run([...CREATE, ...providers]);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stdout.toString().replaceAll(/ +/g, ' ')).toBe(
      'DESIGN CANDIDATE\nd-1 c-1\nd-1 c-2\nd-1 c-3\n',
    );
    expect(result.stderr).toContain(
      'design d-1 has 3 candidates; 30 credits used; API quota left: 70 units',
    );
    expect(result.stderr).toContain('`foley design save DESIGN CANDIDATE --name NAME` saves one');
    const request = await fixture.server.received();
    expect(request.header('idempotency-key')).toMatch(/^[\w-]{16,128}$/);
    expect(request.header('x-request-id')).not.toBe(request.header('idempotency-key'));
    expect(JSON.parse(request.body.toString())).toStrictEqual({
      prompt: PROMPT,
      previewText: 'Good evening.',
      providers: ['vendor', 'altA'],
    });
    expect(await debrisIn(fixture.sandbox)).toStrictEqual([]);
  });

  test('with --output-dir fetches every preview with the key, and checks it', async () => {
    const fixture = await createFixture([onDesign(), ...PREVIEWS]);
    const result = await fixture.run([...CREATE, '--output-dir', 'candidates', '--json']);
    expect(result.code, result.stderr).toBe(0);
    const folder = path.join(fixture.sandbox.out, 'candidates');
    expect((await readdir(folder)).sort()).toStrictEqual(['c-1.mp3', 'c-2.wav', 'c-3.mp3']);
    expect(await readFile(path.join(folder, 'c-2.wav'))).toStrictEqual(wav.bytes);
    const asked = fixture.server.requests.filter(({ method }) => method === 'GET');
    expect(asked.map(({ header }) => header('authorization'))).toStrictEqual(
      asked.map(() => `Bearer ${fixture.key}`),
    );
    const { candidates, ...document } = Object(parseJsonDocument(result.stdout));
    expect(document).toStrictEqual({
      designId: 'd-1',
      expiresAt: null,
      requestId: 'r-design',
      creditsUsed: 30,
      quotaRemaining: 70,
      target: 'hosted',
      raw: DESIGN,
    });
    expect(candidates.map(({ output }: { output: string }) => output)).toStrictEqual(
      ['c-1.mp3', 'c-2.wav', 'c-3.mp3'].map((name) => path.join('candidates', name)),
    );
  });

  test('fetches them at the same time', async () => {
    const fixture = await createFixture([
      onDesign(),
      onPreview('c-1', [pause(), ...MP3]),
      onPreview('c-2', [pause(), ...WAV]),
      onPreview('c-3', [pause(), ...MP3]),
    ]);
    const running = await fixture.start([...CREATE, '--output-dir', '.']);
    // None of them is answered before all of them have been asked for.
    await fixture.server.received({ method: 'GET' }, 3);
    for (const _ of PREVIEWS) await fixture.server.advance();
    expect((await running.done).code).toBe(0);
  });

  test('a preview elsewhere gets no key', async () => {
    const elsewhere = await startFaultServer([{ answer: MP3 }]);
    const previewAudioUrl = `${elsewhere.origin}/signed?token=s3cret`;
    const fixture = await createFixture([
      onDesign({ ...DESIGN, candidates: [{ candidateId: 'c-1', previewAudioUrl }] }),
    ]);
    const result = await fixture.run([...CREATE, '--output-dir', '.', '--verbose']);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stderr).not.toContain('s3cret');
    expect((await elsewhere.received()).header('authorization')).toBeUndefined();
  });

  test('a preview that fails takes nothing away: exit 3, and it is said how to get it', async () => {
    const fixture = await createFixture([
      onDesign(),
      onPreview('c-1', MP3),
      onPreview('c-2', answer(200, { 'Content-Type': 'audio/mpeg' }, 'no mp3')),
      onPreview('c-3', answer(404)),
    ]);
    const result = await fixture.run([...CREATE, '--output-dir', '.']);
    expect(result.code).toBe(3);
    expect(await readdir(fixture.sandbox.out)).toStrictEqual(['c-1.mp3']);
    expect(result.stderr).toContain('`foley design preview d-1 c-2` retries');
    expect(result.stderr).toContain('`foley design preview d-1 c-3` retries');
    expect(result.stdout.toString()).toMatch(/^d-1 +c-1 +c-1\.mp3$/m);
  });

  test('an id that would leave the folder becomes a plain name', async () => {
    const candidate = {
      candidateId: '../../evil',
      previewAudioUrl: `${DESIGNS}/d-1/candidates/c-1/audio`,
    };
    const fixture = await createFixture([
      onDesign({ ...DESIGN, candidates: [candidate] }),
      onPreview('c-1', MP3),
    ]);
    expect((await fixture.run([...CREATE, '--output-dir', 'in'])).code).toBe(0);
    const left = await debrisIn(fixture.sandbox);
    expect(left).toStrictEqual([expect.stringMatching(/^out\/in\/[\w-]+\.mp3$/)]);
  });

  test('the folder is tried before anything is billed', async () => {
    const fixture = await createFixture([]);
    await writeFile(path.join(fixture.sandbox.out, 'file'), '');
    const result = await fixture.run([...CREATE, '--output-dir', 'file']);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain(
      '--output-dir is file, which is a file, but previews require a folder',
    );
    expect(fixture.server.connections).toBe(0);
  });

  test('is a table on a terminal, with both ids whole', async () => {
    const candidateId = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';
    const candidates = [{ candidateId, description: 'Low and slow, as an old man is' }];
    const { sandbox, env } = await createFixture([onDesign({ ...DESIGN, candidates })]);
    const running = await startInTerminal([...CREATE, '--no-progress'], {
      sandbox,
      env,
      columns: 60,
    });
    const { stdout } = await running.done;
    expect(stdout.toString()).toMatch(new RegExp(`d-1 +${candidateId} +Low .*…`));
  });
});

describe('design preview', () => {
  test('saves the preview of a candidate, named or not', async () => {
    const fixture = await createFixture([onPreview('c-2', WAV)]);
    const named = await fixture.run(['design', 'preview', 'd-1', 'c-2', '-o', 'x.wav', '--json']);
    expect(parseJsonDocument(named.stdout)).toStrictEqual({
      designId: 'd-1',
      candidateId: 'c-2',
      output: 'x.wav',
      bytes: wav.bytes.length,
      format: 'wav',
      target: 'hosted',
    });
    const own = await fixture.run(['design', 'preview', 'd-1', 'c-2']);
    expect(own.stdout.toString()).toBe('c-2.wav\n');
    const piped = await fixture.run(['design', 'preview', 'd-1', 'c-2', '-o', '-']);
    expect(piped.stdout).toStrictEqual(wav.bytes);
    expect((await readdir(fixture.sandbox.out)).sort()).toStrictEqual(['c-2.wav', 'x.wav']);
  });

  test('an ending that does not fit is exit 2, and leaves no file', async () => {
    const fixture = await createFixture([onPreview('c-1', MP3)]);
    const result = await fixture.run(['design', 'preview', 'd-1', 'c-1', '-o', 'x.wav']);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain('--output has the extension of wav, but candidate c-1 is mp3');
    expect(await readdir(fixture.sandbox.out)).toStrictEqual([]);
  });

  test('that is wav is encoded in the format of the ending', async () => {
    const fixture = await createFixture([onPreview('c-2', WAV)]);
    const result = await fixture.run(['design', 'preview', 'd-1', 'c-2', '-o', 'x.flac', '--json']);
    expect(parseJsonDocument(result.stdout)).toMatchObject({ output: 'x.flac', format: 'flac' });
    const bytes = await readFile(path.join(fixture.sandbox.out, 'x.flac'));
    expect(bytes.subarray(0, 4).toString()).toBe('fLaC');
  });

  test.each([404, 410])('of a design that is gone (%d) is exit 20, and says so', async (status) => {
    const fixture = await createFixture([onPreview('c-2', answer(status))]);
    const result = await fixture.run(['design', 'preview', 'd-1', 'c-2', '-o', 'x.wav']);
    expect(result.code).toBe(20);
    expect(result.stderr).toContain('Designs are temporary');
    expect(await readdir(fixture.sandbox.out)).toStrictEqual([]);
  });
});

describe('design save', () => {
  const SAVE = ['design', 'save', 'd-1', 'c-2', '--name', 'Old Tom'] as const;

  test('makes a voice under a key, and prints its id alone', async () => {
    const fixture = await createFixture([onSave()]);
    const flags = ['--visibility', 'private', '--language', 'en'];
    const result = await fixture.run([...SAVE, ...flags, '--idempotency-key', 'mine']);
    expect(result).toMatchObject({ code: 0 });
    expect(result.stdout.toString()).toBe('v-new\n');
    expect(result.stderr).toContain('`foley tts -v v-new` speaks with it');
    const request = await fixture.server.received();
    expect(request.header('idempotency-key')).toBe('mine');
    expect(JSON.parse(request.body.toString())).toStrictEqual({
      candidateId: 'c-2',
      name: 'Old Tom',
      visibility: 'private',
      language: 'en',
    });
    expect(await debrisIn(fixture.sandbox)).toStrictEqual([]);
  });

  test('sends only what was given; ids of a design are never taken for the voice', async () => {
    const fixture = await createFixture([onSave({ designId: 'd-1', candidateId: 'c-2' })]);
    const result = await fixture.run([...SAVE]);
    expect(result.code).toBe(25);
    const { body } = await fixture.server.received();
    expect(JSON.parse(body.toString())).toStrictEqual({ candidateId: 'c-2', name: 'Old Tom' });
  });
});

const REFUSED: readonly [args: readonly string[], reason: string][] = [
  [['design', 'create', PROMPT], "required option '--preview-text <text>' not specified"],
  [['design', 'create', '--preview-text', 'x'], "missing required argument 'prompt'"],
  [['design', 'create', '  ', '--preview-text', 'x'], 'PROMPT is empty'],
  [['design', 'create', 'a', 'b', '--preview-text', 'x'], 'too many arguments'],
  [['design', 'create', 'a', '--preview-text', ''], '--preview-text is empty'],
  [['design', 'create', 'a', '--preview-text', 'x', '--provider', ''], '--provider is empty'],
  [[...CREATE, '--idempotency-key', 'k'.repeat(129)], '--idempotency-key has 129 characters'],
  [['design', 'save', 'd', 'c'], "required option '--name <name>' not specified"],
  [['design', 'save', 'd', '--name', 'n'], "missing required argument 'candidate'"],
  [['design', 'save', 'd', 'c', '--name', ' '], '--name is empty'],
  [['design', 'save', 'd', 'c', '--name', 'n', '--visibility', 'x'], '--visibility is "x"'],
  [['design', 'save', '..', 'c', '--name', 'n'], '".." is not a valid id'],
  [['design', 'preview', 'd', 'c', '-o', ''], '--output is empty'],
  [
    ['design', 'preview', 'd', 'c', '-o', '-', '--json'],
    '--json and audio cannot both go to stdout',
  ],
];

test.each(everyNth(2, REFUSED))('%j is exit 2, and nothing is sent', async (args, reason) => {
  const fixture = await createFixture([]);
  const result = await fixture.run(args);
  expect(result.code).toBe(2);
  expect(result.stderr).toContain(reason);
  expect(fixture.server.connections).toBe(0);
});
