import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { systemFiles } from '../../../src/system/file-system.ts';
import type { ModelFile } from '../../../src/engines/download-models.ts';
import { missingFiles, storeFiles } from '../../../src/engines/download-models.ts';
import { startFaultServer } from '../../fault-server/fault-server.ts';
import { answer, chunk, head, lastChunk } from '../../fault-server/http-text.ts';
import type { Rule } from '../../fault-server/script.ts';
import { fin, pause, repeat, write } from '../../fault-server/steps.ts';
import { failureOf, testSystem } from '../../files/file-simulation.ts';
import type { ModelSimulation } from '../../engines/model-files.ts';
import {
  contentOf,
  cutAfter,
  filesIn,
  listed,
  modelSimulation,
  served,
  TAG,
} from '../../engines/model-files.ts';

const PATH = 'kokoro/voices/ada.bin';
const CONTENT = contentOf('ada', 100_000);
const ENTRY = listed(PATH, CONTENT);

const partOf = (simulation: ModelSimulation) => path.join(simulation.modelsFolder, `${PATH}.part`);
const read = (simulation: ModelSimulation, file = PATH) =>
  readFile(path.join(simulation.modelsFolder, file));

/** A world whose mirror is a server with this script. */
async function mirrored(
  rules: readonly Rule[],
  changes: Parameters<typeof modelSimulation>[0] = {},
) {
  const server = await startFaultServer(rules);
  const url = new URL(`${server.origin}/mirror`);
  return {
    server,
    simulation: await modelSimulation({ source: { kind: 'mirror', url }, ...changes }),
  };
}

const honest: Rule = { answer: (request) => served(CONTENT, request) };

describe('a download', () => {
  it('asks for the path of the list below the mirror, and needs no key', async () => {
    const { server, simulation } = await mirrored([honest]);
    await storeFiles([ENTRY], simulation);
    expect(await read(simulation)).toEqual(CONTENT);
    expect(await filesIn(simulation)).toEqual(['ada.bin']);
    const [request] = server.requests;
    expect(request?.path).toBe(`/mirror/${PATH}`);
    expect(request?.header('authorization')).toBeUndefined();
    expect(request?.header('x-request-id')).toBeUndefined();
    expect(simulation.progress.at(-1)).toBe(CONTENT.length);
    const folder = await stat(path.join(simulation.modelsFolder, 'kokoro/voices'));
    expect(folder.mode & 0o777).toBe(0o700);
  });

  it('uses the address of the list without a mirror, and follows redirects', async () => {
    const server = await startFaultServer([
      { path: `/${PATH}`, answer: answer(302, { Location: '/elsewhere' }) },
      { path: '/elsewhere', answer: (request) => served(CONTENT, request) },
    ]);
    const simulation = await modelSimulation();
    await storeFiles([listed(PATH, CONTENT, server.origin)], simulation);
    expect(await read(simulation)).toEqual(CONTENT);
  });

  it('never follows a redirect to another computer without encryption', async () => {
    const { simulation } = await mirrored([
      { answer: answer(302, { Location: 'http://models.example/ada.bin' }) },
    ]);
    const failure = await failureOf(storeFiles([ENTRY], simulation));
    expect(failure).toMatchObject({ exitCode: 25 });
    expect(String(failure)).toContain('without encryption');
  });

  it('resumes after a break at any byte, in one command', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 40_000 }), { minLength: 1, maxLength: 4 }),
        fc.constantFrom('fin' as const, 'reset' as const),
        async (cuts, how) => {
          const script: Rule[] = cuts.map((bytes, at) => ({
            nth: at + 1,
            optional: true,
            answer: (request) => cutAfter(CONTENT, request, bytes, how),
          }));
          const { server, simulation } = await mirrored([...script, { ...honest, optional: true }]);
          await storeFiles([ENTRY], simulation);
          expect(await read(simulation)).toEqual(CONTENT);
          const resumed = server.requests.filter((one) => one.header('range') !== undefined);
          for (const one of resumed) expect(one.header('if-range')).toBe(TAG);
        },
      ),
      { numRuns: 8 },
    );
  });

  it.each([0, 1, 4_096, 99_999, 100_000])(
    'resumes from %i bytes that an ended command left',
    async (bytes) => {
      const { server, simulation } = await mirrored([{ ...honest, optional: true }]);
      await mkdir(path.dirname(partOf(simulation)), { recursive: true });
      await writeFile(partOf(simulation), CONTENT.subarray(0, bytes));
      await storeFiles([ENTRY], simulation);
      expect(await read(simulation)).toEqual(CONTENT);
      const ranges = server.requests.map((one) => one.header('range'));
      expect(ranges).toEqual(
        bytes === 100_000 ? [] : [bytes === 0 ? undefined : `bytes=${bytes}-`],
      );
    },
  );

  it('names the version of the earlier part, and starts again when the server has another', async () => {
    const old = contentOf('old', 100_000);
    const { server, simulation } = await mirrored([
      { nth: 1, answer: (request) => cutAfter(old, request, 50_000) },
      { answer: (request) => served(CONTENT, request, '"version-2"') },
    ]);
    await storeFiles([ENTRY], simulation);
    expect(await read(simulation)).toEqual(CONTENT);
    expect(server.requests.map((one) => one.header('if-range'))).toEqual([undefined, TAG]);
  });

  it('starts again when the server ignores the range', async () => {
    const { server, simulation } = await mirrored([
      { nth: 1, answer: (request) => cutAfter(CONTENT, request, 60_000) },
      { answer: answer(200, {}, CONTENT) },
    ]);
    await storeFiles([ENTRY], simulation);
    expect(await read(simulation)).toEqual(CONTENT);
    expect(server.requests).toHaveLength(2);
  });

  it('starts again when the earlier part is damaged, without a version', async () => {
    const { server, simulation } = await mirrored([
      { answer: (request) => served(CONTENT, request, 'W/"weak"') },
    ]);
    await mkdir(path.dirname(partOf(simulation)), { recursive: true });
    await writeFile(partOf(simulation), contentOf('damage', 30_000));
    await storeFiles([ENTRY], simulation);
    expect(await read(simulation)).toEqual(CONTENT);
    expect(server.requests.map((one) => one.header('range'))).toEqual(['bytes=30000-', undefined]);
  });

  it('starts again when the server sends another range', async () => {
    const { server, simulation } = await mirrored([
      { nth: 1, answer: answer(206, { 'Content-Range': 'bytes 0-99999/100000' }, CONTENT) },
      honest,
    ]);
    await mkdir(path.dirname(partOf(simulation)), { recursive: true });
    await writeFile(partOf(simulation), CONTENT.subarray(0, 500));
    await storeFiles([ENTRY], simulation);
    expect(await read(simulation)).toEqual(CONTENT);
    expect(server.requests.map((one) => one.header('range'))).toEqual(['bytes=500-', undefined]);
  });

  it('starts again when the server refuses the range', async () => {
    const refusal = answer(416, { 'Content-Range': 'bytes */10' });
    const { simulation } = await mirrored([{ nth: 1, answer: refusal }, honest]);
    await mkdir(path.dirname(partOf(simulation)), { recursive: true });
    await writeFile(partOf(simulation), CONTENT.subarray(0, 500));
    await storeFiles([ENTRY], simulation);
    expect(await read(simulation)).toEqual(CONTENT);
  });

  it('continues when the server stalls', async () => {
    const { simulation } = await mirrored([
      {
        nth: 1,
        answer: [
          head(200, { 'Content-Length': String(CONTENT.length), ETag: TAG }),
          write(CONTENT.subarray(0, 12_345)),
          pause(),
        ],
      },
      honest,
    ]);
    await storeFiles([ENTRY], simulation);
    expect(await read(simulation)).toEqual(CONTENT);
  });

  it('continues when the body ends too early but in order', async () => {
    const { simulation } = await mirrored([
      {
        nth: 1,
        answer: [
          head(200, { 'Transfer-Encoding': 'chunked' }),
          chunk(CONTENT.subarray(0, 777)),
          lastChunk(),
        ],
      },
      honest,
    ]);
    await storeFiles([ENTRY], simulation);
    expect(await read(simulation)).toEqual(CONTENT);
  });

  it('gives up on a server that always breaks off at the same byte, and keeps the part', async () => {
    const { server, simulation } = await mirrored([
      {
        answer: [
          head(200, { 'Content-Length': String(CONTENT.length) }),
          write(CONTENT.subarray(0, 5_000)),
          fin(),
        ],
      },
    ]);
    const failure = await failureOf(storeFiles([ENTRY], simulation));
    expect(failure).toMatchObject({
      exitCode: 25,
      hint: expect.stringContaining('It resumes the download.'),
    });
    expect(server.requests).toHaveLength(5);
    expect((await stat(partOf(simulation))).size).toBe(5_000);
  });

  it.each([
    ['wrong bytes', () => answer(200, {}, contentOf('wrong', 100_000)), /its SHA-256 is/],
    [
      'wrong bytes and a wrong range after a break',
      () => answer(206, { 'Content-Range': 'bytes 5-9/100000' }, 'wrong'),
      /wrong range/,
    ],
    ['a page instead', () => answer(200, {}, '<html>Log in</html>'), /has 19 bytes, not 100000/],
    [
      'a page without a length',
      () => [head(200), repeat(Buffer.alloc(65_536), Infinity)],
      /longer than 100000 bytes/,
    ],
    [
      'a compressed file',
      () => answer(200, { 'Content-Encoding': 'gzip' }, 'xxx'),
      /is compressed/,
    ],
  ])('ends with exit 25 for %s', async (_, steps, why) => {
    const { simulation } = await mirrored([{ answer: steps }]);
    const failure = await failureOf(storeFiles([ENTRY], simulation));
    expect(failure).toMatchObject({ exitCode: 25, code: 'bad_answer' });
    expect(String(failure)).toMatch(why);
    expect(await missingFiles([ENTRY], simulation)).toEqual([ENTRY]);
    expect(await filesIn(simulation)).not.toContain('ada.bin');
  });

  it('deletes a file with a wrong checksum', async () => {
    const { simulation } = await mirrored([{ answer: answer(200, {}, contentOf('x', 100_000)) }]);
    await failureOf(storeFiles([ENTRY], simulation));
    expect(await filesIn(simulation)).toEqual([]);
  });

  it('ends with exit 24 when no server answers, and names the file and the other sources', async () => {
    const simulation = await modelSimulation({
      source: { kind: 'mirror', url: new URL('http://127.0.0.1:9') },
    });
    const failure = await failureOf(storeFiles([ENTRY], simulation));
    expect(failure).toMatchObject({
      exitCode: 24,
      message: expect.stringMatching(/^cannot download ada\.bin from 127\.0\.0\.1:9: /),
      hint: expect.stringContaining('--from'),
    });
  });

  it('names the status of a server that does not have the file', async () => {
    const { simulation } = await mirrored([{ answer: answer(404, {}, 'nothing here') }]);
    const failure = await failureOf(storeFiles([ENTRY], simulation));
    expect(failure).toMatchObject({ exitCode: 25 });
    expect(String(failure)).toContain('status 404');
  });

  it('names the time after which an overloaded server accepts requests again', async () => {
    const { simulation } = await mirrored([{ answer: answer(503, { 'Retry-After': '600' }) }]);
    expect(await failureOf(storeFiles([ENTRY], simulation))).toMatchObject({
      exitCode: 23,
      hint: expect.stringContaining('Run the command again in 600 seconds.'),
    });
  });

  it('checks an MD5 where the list has no SHA-256', async () => {
    const rest = { ...ENTRY, sha256: undefined };
    const md5 = createHash('md5').update(CONTENT).digest('hex');
    const { simulation } = await mirrored([honest]);
    await storeFiles([{ ...rest, md5 }], simulation);
    expect(await missingFiles([{ ...rest, md5 }], simulation)).toEqual([]);
    const wrong: ModelFile = { ...rest, md5: md5.replaceAll('0', '1'), path: 'kokoro/other.bin' };
    expect(String(await failureOf(storeFiles([wrong], simulation)))).toContain('its MD5 is');
  });
});

describe('a folder as source', () => {
  test.each([PATH, 'voices/ada.bin', 'ada.bin'])('may have the file as %s', async (place) => {
    const folder = (await modelSimulation()).modelsFolder;
    await mkdir(path.dirname(path.join(folder, place)), { recursive: true });
    await writeFile(path.join(folder, place), CONTENT);
    const simulation = await modelSimulation({ source: { kind: 'folder', path: folder } });
    await storeFiles([ENTRY], simulation);
    expect(await read(simulation)).toEqual(CONTENT);
    expect(await readFile(path.join(folder, place))).toEqual(CONTENT);
  });

  test('that lacks files is named with all of them, and nothing is stored', async () => {
    const simulation = await modelSimulation();
    const files = [ENTRY, { ...ENTRY, path: 'kokoro/model.onnx' }];
    const from = { ...simulation, source: { kind: 'folder', path: '/nowhere' } } as const;
    expect(await failureOf(storeFiles(files, from))).toMatchObject({
      exitCode: 2,
      hint: `Put these files there: ${PATH}, kokoro/model.onnx`,
    });
  });

  test('with wrong bytes ends with exit 25, and keeps the file of the user', async () => {
    const folder = (await modelSimulation()).modelsFolder;
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, 'ada.bin'), contentOf('wrong', 100_000));
    const simulation = await modelSimulation({ source: { kind: 'folder', path: folder } });
    expect(await failureOf(storeFiles([ENTRY], simulation))).toMatchObject({ exitCode: 25 });
    expect(await readdir(folder)).toEqual(['ada.bin']);
    expect(await filesIn(simulation)).toEqual([]);
  });
});

describe('the disk', () => {
  test('is checked before anything is requested', async () => {
    const files = new Proxy(systemFiles, {
      get: (target, property) =>
        property === 'statfs'
          ? async () => ({ bavail: 1, bsize: 4_096, blocks: 10 })
          : Reflect.get(target, property),
    });
    const simulation = await modelSimulation({ system: testSystem({ files }) });
    expect(await failureOf(storeFiles([ENTRY], simulation))).toMatchObject({
      exitCode: 30,
      message: expect.stringContaining('4 KiB free, and the voices need about 98 KiB'),
      hint: expect.stringContaining('XDG_DATA_HOME'),
    });
  });
});

test('a damaged file counts as missing', async () => {
  const simulation = await modelSimulation();
  const name = path.join(simulation.modelsFolder, PATH);
  expect(await missingFiles([ENTRY], simulation)).toEqual([ENTRY]);
  await mkdir(path.dirname(name), { recursive: true });
  await writeFile(name, CONTENT);
  expect(await missingFiles([ENTRY], simulation)).toEqual([]);
  await writeFile(name, contentOf('other', CONTENT.length));
  expect(await missingFiles([ENTRY], simulation)).toEqual([ENTRY]);
});
