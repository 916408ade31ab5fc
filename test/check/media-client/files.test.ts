import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { request } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemFiles } from '../../../src/system/file-system.ts';
import { systemRandom } from '../../../src/system/random.ts';
import { findRegularFile } from '../../../src/durable/regular-file.ts';
import { startOneTimeServer } from '../../../src/media/inputs.ts';
import { errorLine } from '../../harness/error-line.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { createFixture } from '../../binary/support/fixture.ts';
import { AUDIO_URL, job, onCreate } from '../../binary/media-client/media-fixture.ts';

const CONTENT = Buffer.from('a video, let us say\n'.repeat(20_000));

async function serving() {
  const sandbox = await createSandbox();
  const file = path.join(sandbox.out, 'clip.mp4');
  await writeFile(file, CONTENT);
  const found = await findRegularFile(file, 'clip.mp4', systemFiles);
  if (found === undefined) throw new Error('the file is not regular');
  const server = await startOneTimeServer(systemRandom);
  onTestFinished(() => server.close());
  return { server, file, found };
}

async function get(url: string, options: Parameters<typeof request>[1] = {}) {
  const { body, headers, statusCode } = await request(url, options);
  return { status: statusCode, headers, bytes: Buffer.from(await body.arrayBuffer()) };
}

describe('a file that is served on this machine', () => {
  test('comes once, whole, under an address that cannot be guessed', async () => {
    const { found, server } = await serving();
    const [first, second] = [server.share(found), server.share(found)];
    expect(first).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}$/);
    expect(second).not.toBe(first);
    const { bytes, headers, status } = await get(first);
    expect([status, headers['content-length'], headers['cache-control']]).toEqual([
      200,
      `${CONTENT.length}`,
      'no-store',
    ]);
    expect(bytes.equals(CONTENT)).toBe(true);
    expect((await get(first)).status).toBe(404);
    expect((await get(second)).status).toBe(200);
  });

  test('comes once more for a request that is sent again', async () => {
    const { found, server } = await serving();
    const url = server.share(found);
    expect((await get(url)).status).toBe(200);
    server.renew();
    expect((await get(url)).status).toBe(200);
    expect((await get(url)).status).toBe(404);
  });

  test('is not served for another path, method or host', async () => {
    const { found, server } = await serving();
    const url = server.share(found);
    expect((await get(new URL('/', url).href)).status).toBe(404);
    expect((await get(`${url}x`)).status).toBe(404);
    expect((await get(url, { method: 'HEAD' })).status).toBe(404);
    expect((await get(url, { method: 'POST', body: 'x' })).status).toBe(404);
    expect((await get(url, { headers: { host: 'evil.test' } })).status).toBe(404);
    // None of these used it up.
    expect((await get(url)).status).toBe(200);
  });

  test('is not served after the command', async () => {
    const { found, server } = await serving();
    const url = server.share(found);
    await server.close();
    await expect(get(url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});

describe('a file for a hosted service', () => {
  const pending = onCreate('lipsync', job('lipsync', 'pending', { code: 202 }));
  const args = ['lipsync', 'create', '--video', 'clip.mp4', '--audio', 'https://media.test/a.wav'];

  async function fixtureWith(script: string | undefined, rules = [pending]) {
    const fixture = await createFixture(rules);
    await writeFile(path.join(fixture.sandbox.out, 'clip.mp4'), 'video');
    if (script !== undefined) {
      const file = path.join(fixture.sandbox.out, 'my uploader.cjs');
      await writeFile(file, script);
      const command = `'${process.execPath}' '${file}' --to "the bucket"`;
      await fixture.run(['config', 'set', 'upload.command', command]);
    }
    return fixture;
  }

  test('needs a command that uploads it', async () => {
    const fixture = await fixtureWith(undefined, []);
    const error = errorLine(await fixture.run([...args, '--json']));
    expect(error).toMatchObject({ exitCode: 2, billed: 'no' });
    expect(error.message).toContain(
      '"clip.mp4" is a local file, which a hosted service cannot fetch',
    );
    expect(error.hint).toContain('upload.command');
    expect(fixture.server.requests).toEqual([]);
  });

  test('is uploaded by that command, which gets the path last, no shell and no key', async () => {
    const script = `
      const words = [...process.argv.slice(2), process.env.FOLEY_API_KEY ?? 'no key'];
      console.log('https://store.test/?w=' + encodeURIComponent(JSON.stringify(words)));`;
    const fixture = await fixtureWith(script);
    const result = await fixture.run(args);
    expect(result.code, result.stderr).toBe(0);
    const { video_url } = JSON.parse(fixture.server.requests[0]?.body.toString() ?? '');
    expect(JSON.parse(new URL(video_url).searchParams.get('w') ?? '')).toEqual([
      '--to',
      'the bucket',
      path.join(fixture.sandbox.out, 'clip.mp4'),
      'no key',
    ]);
  });

  test.each<[string, string, RegExp]>([
    ['fails', `console.error('no space left'); process.exit(7);`, /exit code 7\): no space left/],
    ['prints nothing', '', /did not print exactly one http/],
    [
      'prints more than a URL',
      `console.log('done\\nhttps://a.test/b');`,
      /did not print exactly one http/,
    ],
    ['prints another address', `console.log('s3://bucket/key');`, /did not print exactly one http/],
  ])('that %s is exit 2, and nothing is ordered', async (_, script, message) => {
    const fixture = await fixtureWith(script, []);
    const error = errorLine(await fixture.run([...args, '--json']));
    expect(error).toMatchObject({ exitCode: 2, billed: 'no' });
    expect(error.message).toMatch(message);
    expect(fixture.server.requests).toEqual([]);
  });

  test('that is not there is exit 2', async () => {
    const fixture = await createFixture([]);
    await writeFile(path.join(fixture.sandbox.out, 'clip.mp4'), 'video');
    await fixture.run(['config', 'set', 'upload.command', 'no-such-program --x']);
    const error = errorLine(await fixture.run([...args, '--json']));
    expect(error).toMatchObject({ exitCode: 2, code: 'config' });
    expect(error.message).toContain('no such program: no-such-program');
  });

  test('may not be set up by a project', async () => {
    const fixture = await createFixture([]);
    const file = path.join(fixture.sandbox.out, 'foley.config.json');
    await writeFile(file, JSON.stringify({ upload: { command: 'touch stolen' } }));
    const words = ['lipsync', 'create', '--video', file, '--audio', AUDIO_URL, '--json'];
    const error = errorLine(await fixture.run(words));
    expect(error).toMatchObject({ exitCode: 2, code: 'config' });
  });
});
