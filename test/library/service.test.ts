import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { EphemeralService, ServiceOptions } from '../../src/library/service.ts';
import { FoleyError, startService } from '../../src/library/service.ts';
import { requirePosix } from '../harness/posix.ts';

async function started(options?: ServiceOptions): Promise<EphemeralService> {
  const service = await startService(options);
  onTestFinished(() => service.close());
  return service;
}

function ask(service: EphemeralService, key = service.apiKey): Promise<Response> {
  const headers = { authorization: `Bearer ${key}` };
  return fetch(`${service.baseUrl}/api/open/v3/voices`, { headers });
}

async function temporaryFolders(): Promise<readonly string[]> {
  const all = await readdir(tmpdir());
  return all.filter((name) => name.startsWith('foley-ephemeral-'));
}

describe('startService', () => {
  test('serves on a loopback port with a random key, and removes its data when it is closed', async () => {
    const before = await temporaryFolders();
    const service = await started();
    expect(service.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(service.realtimeUrl).toBe(service.baseUrl.replace('http', 'ws'));
    expect(await ask(service)).toMatchObject({ status: 200 });
    expect(await ask(service, 'another')).toMatchObject({ status: 401 });
    const own = (await temporaryFolders()).filter((name) => !before.includes(name));
    expect(own.length).toBeGreaterThan(0);
    await service.close();
    await service.close();
    expect(await temporaryFolders()).not.toEqual(expect.arrayContaining(own));
    await expect(ask(service)).rejects.toThrow('fetch failed');
  });

  test('lists its requests with their faults, and replaces its fault rules', async () => {
    const service = await started({ faults: ['GET /**; status=503; retry-after=1; times=1'] });
    expect((await ask(service)).status).toBe(503);
    expect((await ask(service)).status).toBe(200);
    service.setFaults(['* /**; status=429']);
    expect((await ask(service)).status).toBe(429);
    service.setFaults([]);
    expect((await ask(service)).status).toBe(200);
    const line = { method: 'GET', path: '/api/open/v3/voices', credits: undefined };
    expect(service.requests()).toMatchObject([
      { ...line, status: 503, account: undefined, faults: ['status=503; retry-after=1'] },
      { ...line, status: 200, account: 'local', faults: [] },
      { ...line, status: 429, faults: ['status=429'] },
      { ...line, status: 200, faults: [] },
    ]);
  });

  test('keeps its rules when new ones are invalid', async () => {
    const service = await started({ faults: ['GET /**; status=503'] });
    expect(() => service.setFaults(['GET /**'])).toThrow(/^faults: "GET \/\*\*": it has no effect/);
    expect((await ask(service)).status).toBe(503);
  });

  test('limits the rate and accepts keys of several accounts', async () => {
    const keys = ['one', { key: 'two', account: 'team' }];
    const service = await started({ rateLimit: 1, keys, credits: 7, unavailable: ['vendor-s1'] });
    expect(service.apiKey).toBe('one');
    const statuses = [];
    for (let count = 0; count < 4; count += 1) statuses.push((await ask(service)).status);
    expect(statuses[0]).toBe(200);
    expect(statuses).toContain(429);
    expect((await ask(service, 'two')).status).toBe(200);
    expect(service.requests().at(-1)).toMatchObject({ account: 'team' });
  });

  test('keeps the data of a given folder', async () => {
    const dataDir = await mkdtemp(path.join(tmpdir(), 'foley test '));
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
    const first = await startService({ dataDir, keys: ['same'] });
    await first.close();
    expect(await readdir(dataDir)).not.toEqual([]);
    const second = await started({ dataDir, keys: ['same'] });
    expect((await ask(second)).status).toBe(200);
  });

  test('starts ten times in one process without disturbance', async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error): number => warnings.push(warning);
    process.on('warning', warn);
    onTestFinished(() => void process.off('warning', warn));
    const services = await Promise.all(
      Array.from({ length: 10 }, (_none, index) =>
        started(index % 2 === 0 ? {} : { faults: ['* /**; status=503'] }),
      ),
    );
    expect(new Set(services.map(({ baseUrl }) => baseUrl)).size).toBe(10);
    const [first, ...others] = services;
    await first?.close();
    const statuses = await Promise.all(others.map(async (one) => (await ask(one)).status));
    expect(statuses).toEqual([503, 200, 503, 200, 503, 200, 503, 200, 503]);
    expect(others.map((one) => one.requests().length)).toEqual(others.map(() => 1));
    expect(warnings).toEqual([]);
  });

  const MODELS = /^startService: unavailable is "gpt"; it takes vendor-/;
  test.each<readonly [object, RegExp]>([
    [
      { credits: -1 },
      /^startService: credits is -1; it takes a whole number from 0 to 1000000000000$/,
    ],
    [{ rateLimit: 0 }, /^startService: rateLimit is "0\/s"; it takes a rate such as 10\/s/],
    [{ rateLimit: 'fast' }, /^startService: rateLimit is "fast"; it takes a rate/],
    [{ faults: 'GET /' }, /^startService: faults is "GET \/"; it takes an array$/],
    [{ faults: ['GET /; status=1'] }, /^faults: "GET \/; status=1": status is "1"; it takes /],
    [{ keys: [] }, /^startService: keys is \[\]; it takes an array that is not empty$/],
    [{ keys: ['a', 'a'] }, /keys contains the same API key twice/],
    [{ keys: ['with space'] }, /^startService: keys\[0\] has an API key with characters other/],
    [{ keys: [{ key: 'a', account: '' }] }, /^startService: keys\[0\] has an invalid account name/],
    [{ keys: [{ account: 'a' }] }, /^startService: keys\[0\]: key is missing; it takes a string$/],
    [{ keys: [null] }, /^startService: keys\[0\] takes an object with options; it got null$/],
    [
      { keys: [{ key: 'a', acount: 'b' }] },
      /^startService: keys\[0\] has no option acount\. Did you/,
    ],
    [{ faults: [undefined] }, /^faults: a rule is missing; it takes a string that is not empty$/],
    [{ unavailable: ['gpt'] }, MODELS],
    [{ unavailable: [undefined] }, /^startService: unavailable is missing; it takes vendor-/],
    [[], /^startService takes an object with options; it got \[\]$/],
    [{ dataDir: '' }, /^startService: dataDir is ""; it takes a string that is not empty$/],
    [{ fault: [] }, /^startService has no option fault\. Did you mean faults\?$/],
  ])('refuses %j', async (options, message) => {
    const error: unknown = await startService(options).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(FoleyError);
    expect(error).toMatchObject({
      code: 'usage',
      exitCode: 2,
      billed: 'no',
      message: expect.stringMatching(message),
    });
  });

  test('reports a folder that it cannot use', async () => {
    requirePosix('/dev/null, /dev/zero and /dev/fd');
    await expect(startService({ dataDir: '/dev/null/data' })).rejects.toMatchObject({
      name: 'FoleyError',
      code: 'state',
      exitCode: 32,
    });
  });
});
