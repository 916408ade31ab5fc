import { systemFiles } from '../../src/system/file-system.ts';
import type { ServiceHost } from '../../src/embedded/start.ts';
import { startEmbedded } from '../../src/embedded/start.ts';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createApiClient } from '../../src/api/client.ts';
import { resolvePaths } from '../../src/config/paths.ts';
import { getCapabilities } from '../../src/api/resources/models.ts';
import { getProfile } from '../../src/api/resources/profile.ts';
import { allVoices, getVoice } from '../../src/api/resources/voices.ts';
import { systemClock } from '../../src/system/clock.ts';
import { systemRandom } from '../../src/system/random.ts';

async function folder(): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'foley-target-'));
  onTestFinished(async () => rm(made, { recursive: true, force: true }));
  return made;
}

test('the embedded service responds to the client', async () => {
  const service = await startEmbedded(host(path.join(await folder(), 'service')));
  onTestFinished(() => service.close());
  const client = createApiClient({
    address: service.address,
    clock: systemClock,
    random: systemRandom,
    version: '0.0.0',
    limits: { maxRetries: 0 },
    env: {},
  });
  onTestFinished(() => client.close());
  expect(service.address.kind).toBe('embedded');
  const { value: capabilities } = await getCapabilities(client);
  expect(capabilities.models.length).toBeGreaterThan(0);
  const { value: profile } = await getProfile(client);
  expect(profile.credits).toBeGreaterThan(0);
  for await (const { voice } of allVoices(client)) {
    expect((await getVoice(client, voice.voiceId)).value).toEqual(voice);
  }
});

test('data that cannot be opened is a state failure that names the file', async () => {
  const file = path.join(await folder(), 'in-the-way');
  await writeFile(file, 'not a folder');
  await expect(startEmbedded(host(file))).rejects.toMatchObject({
    exit: 'state',
    exitCode: 32,
    code: 'state',
    message: expect.stringContaining(file),
  });
});

function host(serviceData: string): ServiceHost {
  const homeDirectory = path.dirname(serviceData);
  const paths = resolvePaths({ env: {}, platform: process.platform, homeDirectory });
  return { paths: { ...paths, serviceData }, files: systemFiles, env: {} };
}
