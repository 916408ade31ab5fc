import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { MEDIA_IMAGE_MAX_BYTES } from '../../../src/contract/limits.ts';
import { systemRandom } from '../../../src/system/random.ts';
import type { MediaSources } from '../../../src/service/media/media-jobs.ts';
import { openStore } from '../../../src/service/store/open-store.ts';
import { systemFiles } from '../../../src/system/file-system.ts';
import type { ManualClock } from '../../api/manual-clock.ts';
import { manualClock } from '../../api/manual-clock.ts';
import { mediaSources } from '../support/new-service.ts';
import type { TestService } from '../support/test-service.ts';
import { jsonPost, temporaryFolder, testService } from '../support/test-service.ts';

const LIP_SYNC = '/api/open/v1/media/lip-sync/jobs';
const WAIT = { interval: 5, timeout: 60_000 };

interface Fixture extends TestService {
  readonly address: string;
  /** Requests that the server of media has got. */
  readonly asked: readonly IncomingMessage[];
}

/** A service, and a media server with a scripted handler. */
async function createFixture(
  give: (request: IncomingMessage, response: ServerResponse) => void,
  change: (sources: MediaSources) => Partial<MediaSources> = () => ({}),
): Promise<Fixture> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    give(request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const clock = manualClock();
  const store = await openStore({ dataDir: await temporaryFolder(), clock, files: systemFiles });
  onTestFinished(() => store.close());
  const sources = mediaSources({ clock, random: systemRandom, store });
  const media = { ...sources, ...change(sources) };
  const service = await testService({ clock, store, media });
  return { ...service, clock, store, address: `http://127.0.0.1:${port}`, asked };
}

function create({ address, call }: Pick<Fixture, 'address' | 'call'>, signal?: AbortSignal) {
  const body = { video_url: `${address}/video`, audio_url: `${address}/audio` };
  const init = jsonPost(body);
  return call(LIP_SYNC, signal === undefined ? init : { ...init, signal });
}

/** The folders of media that there are. */
async function foldersOf({ store }: Fixture): Promise<readonly string[]> {
  const folder = path.join(path.dirname(store.path), 'media');
  return readdir(folder).catch(() => []);
}

async function waitsFor(clock: ManualClock, ms: number, times: number): Promise<void> {
  await vi.waitFor(() => {
    expect(clock.running().filter((one) => one === ms)).toHaveLength(times);
  }, WAIT);
}

const SILENCE_MS = 20_000;
const WHOLE_MS = 300_000;

describe('a server of media that takes its time', () => {
  test.each([
    ['never answers', SILENCE_MS, () => undefined],
    ['stops in the middle', SILENCE_MS, (response: ServerResponse) => response.write('ftyp')],
    ['never ends', WHOLE_MS, (response: ServerResponse) => response.write('ftyp')],
  ])('and %s is not waited for: 504', async (_what, ms, give) => {
    const fixture = await createFixture((_request, response) => void give(response));
    const before = await fixture.balance();
    const answering = create(fixture);
    await vi.waitFor(() => expect(fixture.asked).toHaveLength(2), WAIT);
    await waitsFor(fixture.clock, ms, 2);
    fixture.clock.advance(ms);
    const answer = await answering;
    expect(answer.status).toBe(504);
    expect(await answer.json()).toMatchObject({
      code: 'ERR_LIP_SYNC_MEDIA_DOWNLOAD_TIMEOUT',
      details: { media_kind: 'video', stage: 'download', retryable: true },
    });
    expect(await fixture.balance()).toEqual(before);
    expect(await foldersOf(fixture)).toEqual([]);
  });

  test('is not waited for by an image either: 504', async () => {
    const fixture = await createFixture(() => undefined);
    const body = {
      prompt: 'A fox',
      model: await imageModel(fixture),
      image_url: `${fixture.address}/x`,
    };
    const answering = fixture.call(
      '/api/open/v1/media/images/jobs',
      jsonPost(body, { 'Idempotency-Key': 'one' }),
    );
    await vi.waitFor(() => expect(fixture.asked).toHaveLength(1), WAIT);
    await waitsFor(fixture.clock, SILENCE_MS, 1);
    fixture.clock.advance(SILENCE_MS);
    const answer = await answering;
    expect([answer.status, Object(await answer.json()).code]).toEqual([
      504,
      'ERR_MEDIA_DOWNLOAD_TIMEOUT',
    ]);
  });
});

async function imageModel({ call }: Fixture): Promise<string> {
  const answer = await call('/api/open/v1/media/models?mediaType=image');
  const { models } = Object(await answer.json());
  return models.find((model: ReturnType<typeof Object>) => model.variants[0].reference_limit > 0)
    .id;
}

test('sixteen files come in at once, and what is more has to ask again: 503', async () => {
  const fixture = await createFixture(() => undefined);
  const answering = Array.from({ length: 8 }, () => create(fixture));
  await vi.waitFor(() => expect(fixture.asked).toHaveLength(16), WAIT);
  const answer = await create(fixture);
  expect(answer.status).toBe(503);
  expect(answer.headers.get('Retry-After')).toBe('1');
  expect(await answer.json()).toMatchObject({
    code: 'ERR_MEDIA_IMPORT_UNAVAILABLE',
    details: { media_kind: 'video', stage: 'download', retryable: true },
  });
  await fixture.service.close();
  const others = await Promise.all(answering);
  expect(others.map(({ status }) => status)).toEqual(others.map(() => 503));
  expect(await foldersOf(fixture)).toEqual([]);
});

test.each([
  ['EMFILE', 503, 'ERR_MEDIA_IMPORT_UNAVAILABLE', true],
  ['ENOSPC', 507, 'ERR_STORAGE_FULL', false],
])('what cannot be stored (%s) is refused: %i', async (errno, status, code, retryable) => {
  const fault = Object.assign(new Error('refused by the system'), { code: errno });
  const fixture = await createFixture(
    () => undefined,
    ({ folder }) => ({ folder: { ...folder, create: () => Promise.reject(fault) } }),
  );
  const before = await fixture.balance();
  const answer = await create(fixture);
  expect(answer.status).toBe(status);
  const details = { media_kind: 'video', stage: 'download', retryable };
  expect(await answer.json()).toMatchObject({ code, details });
  expect(await fixture.balance()).toEqual(before);
});

test('a client that goes leaves nothing behind', async () => {
  const fixture = await createFixture(() => undefined);
  const before = await fixture.balance();
  const leaving = new AbortController();
  const answering = create(fixture, leaving.signal);
  await vi.waitFor(() => expect(fixture.asked).toHaveLength(2), WAIT);
  leaving.abort();
  await answering;
  expect(await foldersOf(fixture)).toEqual([]);
  expect(await fixture.balance()).toEqual(before);
});

describe('a name', () => {
  test('is looked up once, and asked where it was found then', async () => {
    const resolve = vi.fn(async () => [{ address: '127.0.0.1', family: 4 }]);
    const waiting: ServerResponse[] = [];
    const fixture = await createFixture(
      (_request, response) => {
        waiting.push(response);
        if (waiting.length === 2) for (const one of waiting) one.writeHead(404).end();
      },
      () => ({ resolve }),
    );
    const address = fixture.address.replace('127.0.0.1', 'media.example');
    expect((await create({ ...fixture, address })).status).toBe(422);
    expect(resolve.mock.calls).toEqual([['media.example'], ['media.example']]);
    const { port } = new URL(address);
    expect(fixture.asked.map(({ headers }) => headers.host)).toEqual([
      `media.example:${port}`,
      `media.example:${port}`,
    ]);
  });

  test.each([
    ['leads to a private network', [{ address: '10.0.0.1', family: 4 }]],
    [
      'leads there among others',
      [
        { address: '1.1.1.1', family: 4 },
        { address: '::ffff:10.0.0.1', family: 6 },
      ],
    ],
  ])('that %s is refused without a request', async (_what, addresses) => {
    const fixture = await createFixture(
      () => undefined,
      () => ({ resolve: async () => addresses }),
    );
    const address = fixture.address.replace('127.0.0.1', 'media.example');
    const answer = await create({ ...fixture, address });
    expect([answer.status, Object(await answer.json()).code]).toEqual([
      400,
      'ERR_MEDIA_URL_REFUSED',
    ]);
    expect(fixture.asked).toEqual([]);
  });
});

test('a service that others can ask does not fetch from its own machine', async () => {
  const fixture = await createFixture(
    () => undefined,
    () => ({ allowsLoopback: false }),
  );
  const answer = await create(fixture);
  expect([answer.status, Object(await answer.json()).code]).toEqual([400, 'ERR_MEDIA_URL_REFUSED']);
  expect(fixture.asked).toEqual([]);
});

describe('an answer that is no good', () => {
  test.each([
    [
      '404',
      422,
      'ERR_MEDIA_UNREACHABLE',
      false,
      (response: ServerResponse) => response.writeHead(404).end(),
    ],
    [
      '503',
      422,
      'ERR_MEDIA_UNREACHABLE',
      true,
      (response: ServerResponse) => response.writeHead(503).end(),
    ],
    ['nothing', 422, 'ERR_MEDIA_UNREADABLE', false, (response: ServerResponse) => response.end()],
    [
      'a body that is cut',
      422,
      'ERR_MEDIA_UNREACHABLE',
      true,
      (response: ServerResponse) => {
        response.writeHead(200, { 'Content-Length': 100 }).write('half');
        response.destroy();
      },
    ],
    [
      'a circle',
      422,
      'ERR_MEDIA_UNREACHABLE',
      false,
      (response: ServerResponse) => response.writeHead(302, { Location: '/video' }).end(),
    ],
    [
      'a way to no address',
      422,
      'ERR_MEDIA_UNREACHABLE',
      false,
      (response: ServerResponse) => response.writeHead(302, { Location: 'http://[' }).write('on'),
    ],
    [
      'bytes in an unknown encoding',
      422,
      'ERR_MEDIA_UNREACHABLE',
      false,
      (response: ServerResponse) =>
        response.writeHead(200, { 'Content-Encoding': 'zstd' }).end('x'),
    ],
  ])('%s: %i %s', async (_what, status, code, retryable, give) => {
    // The other file never arrives, and its download is aborted.
    const fixture = await createFixture(({ url }, response) => {
      if (url === '/video') give(response);
    });
    const answer = await create(fixture);
    expect(answer.status).toBe(status);
    const { details, ...body } = Object(await answer.json());
    expect(body.code).toBe(code);
    expect(details).toMatchObject({ media_kind: 'video', retryable });
    expect(await foldersOf(fixture)).toEqual([]);
    // The endless response is aborted.
    await vi.waitFor(
      () => expect(fixture.asked.every((one) => one.socket.destroyed)).toBe(true),
      WAIT,
    );
  });
});

function noise(bytes: Buffer): Buffer {
  const middle = Math.floor(bytes.length / 2);
  return bytes.fill(0x55, middle, middle + 4);
}

describe('sound that a decoder would leave holes in', () => {
  test.each([
    ['beeps.flac', 'is cut', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
    ['beeps.flac', 'is damaged', noise],
    ['beeps.ogg', 'is damaged', noise],
    ['beeps.opus', 'is damaged', noise],
  ])('is refused before anything is charged: %s that %s', async (name, _what, damage) => {
    const fixture = await createFixture(({ url = '' }, response) => {
      const isSound = url === '/audio';
      const file = new URL(`../../fixtures/media/${isSound ? name : 'h264.mp4'}`, import.meta.url);
      void readFile(file).then((bytes) => response.end(isSound ? damage(bytes) : bytes));
    });
    const before = await fixture.balance();
    const answer = await create(fixture);
    expect(await answer.json()).toMatchObject({
      code: 'ERR_MEDIA_UNREADABLE',
      details: { media_kind: 'audio', stage: 'inspection', retryable: false },
    });
    expect(await fixture.balance()).toEqual(before);
    expect(await foldersOf(fixture)).toEqual([]);
  });
});

test('a body without an end is read as far as the limit, and no further: 413', async () => {
  const piece = Buffer.alloc(1 << 20);
  let sent = 0;
  const fixture = await createFixture((_request, response) => {
    // Under Node 26, each write to a client that is gone fails, and the response is not destroyed.
    const more = (error?: Error | null): void => {
      sent += piece.length;
      if (error === undefined || error === null) response.write(piece, more);
    };
    response.writeHead(200);
    more();
  });
  const body = {
    prompt: 'A fox',
    model: await imageModel(fixture),
    image_url: `${fixture.address}/x`,
  };
  const headers = { 'Idempotency-Key': 'endless' };
  const answer = await fixture.call('/api/open/v1/media/images/jobs', jsonPost(body, headers));
  expect(answer.status).toBe(413);
  expect(await answer.json()).toMatchObject({
    code: 'ERR_MEDIA_TOO_LARGE',
    details: { media_kind: 'image', stage: 'download', retryable: false },
  });
  // What is on its way is in the buffers of both ends.
  expect(sent).toBeLessThan(MEDIA_IMAGE_MAX_BYTES + 40 * piece.length);
  expect(await foldersOf(fixture)).toEqual([]);
});

test('a result that was removed by hand is 404', { timeout: 60_000 }, async () => {
  const fixture = await createFixture(({ url = '' }, response) => {
    const name = url === '/video' ? 'h264.mp4' : 'beeps.m4a';
    void readFile(new URL(`../../fixtures/media/${name}`, import.meta.url)).then((bytes) =>
      response.end(bytes),
    );
  });
  const { data } = Object(await (await create(fixture)).json());
  const poll = async () => Object(await (await fixture.call(`${LIP_SYNC}/${data.id}`)).json()).data;
  await vi.waitFor(async () => expect((await poll()).status).toBe('completed'), {
    timeout: 50_000,
    interval: 50,
  });
  const { pathname, search } = new URL((await poll()).result_url);
  expect((await fixture.call(pathname + search)).status).toBe(200);
  const folder = path.join(path.dirname(fixture.store.path), 'media', data.id);
  // What it was made of goes once that is written down.
  await vi.waitFor(async () => expect(await readdir(folder)).toEqual(['result.mp4']), WAIT);
  await systemFiles.unlink(path.join(folder, 'result.mp4'));
  const answer = await fixture.call(pathname + search);
  expect([answer.status, Object(await answer.json()).code]).toEqual([404, 'ERR_MEDIA_NOT_FOUND']);
});
