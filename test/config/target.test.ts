import { expect, test } from 'vitest';
import { Failure } from '../../src/errors/failure.ts';
import type { TargetInputs } from '../../src/config/target.ts';
import { resolveTarget } from '../../src/config/target.ts';

const ACCOUNT = {
  name: 'main',
  baseUrl: 'https://api.example/edge',
  realtimeUrl: 'wss://rt.example',
  apiKey: 'sk-account-1',
};
const HOSTED = { FOLEY_BASE_URL: 'https://env.example', FOLEY_API_KEY: 'sk-env-1' };

/** What comes of the flags, the environment and an account, in few words. */
function outcome(inputs: Partial<TargetInputs>): string {
  try {
    const target = resolveTarget({ flags: {}, env: {}, ...inputs });
    if (target.kind === 'embedded') {
      return target.notice === undefined ? 'embedded, silently' : 'embedded, said';
    }
    const { apiKey, baseUrl, kind, realtimeUrl } = target.address;
    return [kind, baseUrl.href, realtimeUrl.href, apiKey ?? 'no key'].join(' ');
  } catch (error) {
    return error instanceof Failure ? `exit ${error.exitCode}` : String(error);
  }
}

test.each<readonly [string, Partial<TargetInputs>, string]>([
  // Nothing configured.
  ['nothing', {}, 'embedded, said'],
  ['nothing, quiet', { flags: { quiet: true } }, 'embedded, silently'],
  ['nothing, quiet, in CI', { flags: { quiet: true }, env: { CI: 'true' } }, 'embedded, said'],
  ['nothing, quiet, CI empty', { flags: { quiet: true }, env: { CI: '' } }, 'embedded, silently'],
  [
    'empty variables',
    { env: { FOLEY_BASE_URL: '', FOLEY_TARGET: '', FOLEY_REALTIME_URL: '' } },
    'embedded, said',
  ],
  // On purpose.
  ['--local', { flags: { local: true } }, 'embedded, silently'],
  [
    '--local in CI',
    { flags: { local: true, quiet: true }, env: { CI: '1' } },
    'embedded, silently',
  ],
  [
    '--local with a configured service',
    { flags: { local: true }, env: HOSTED, account: ACCOUNT },
    'embedded, silently',
  ],
  [
    '--local with an empty key',
    { flags: { local: true }, env: { FOLEY_API_KEY: '' } },
    'embedded, silently',
  ],
  [
    '--local against FOLEY_TARGET=hosted',
    { flags: { local: true }, env: { FOLEY_TARGET: 'hosted' } },
    'embedded, silently',
  ],
  ['FOLEY_TARGET=local', { env: { FOLEY_TARGET: 'local' } }, 'embedded, silently'],
  [
    'FOLEY_TARGET=local with a service',
    { env: { ...HOSTED, FOLEY_TARGET: 'local' }, account: ACCOUNT },
    'embedded, silently',
  ],
  ['--local --base-url', { flags: { local: true, baseUrl: 'https://a.example' } }, 'exit 2'],
  [
    'FOLEY_TARGET=local --base-url',
    { flags: { baseUrl: 'https://a.example' }, env: { FOLEY_TARGET: 'local' } },
    'exit 2',
  ],
  ['--local --realtime-url', { flags: { local: true, realtimeUrl: 'wss://a.example' } }, 'exit 2'],
  [
    '--local --api-key-file',
    { flags: { local: true, apiKeyFile: 'k' }, keyFromFile: 'sk-1' },
    'exit 2',
  ],
  ['--local --account', { flags: { local: true, account: 'main' }, account: ACCOUNT }, 'exit 2'],
  // Hosted only.
  ['FOLEY_TARGET=hosted alone', { env: { FOLEY_TARGET: 'hosted' } }, 'exit 4'],
  [
    'FOLEY_TARGET=hosted for public documents',
    { env: { FOLEY_TARGET: 'hosted' }, publicOnly: true },
    'exit 4',
  ],
  [
    'FOLEY_TARGET=hosted with a key',
    { env: { FOLEY_TARGET: 'hosted', FOLEY_API_KEY: 'sk-1' } },
    'exit 2',
  ],
  [
    'FOLEY_TARGET=hosted with both',
    { env: { ...HOSTED, FOLEY_TARGET: 'hosted' } },
    'hosted https://env.example/ wss://env.example/ sk-env-1',
  ],
  ['an unknown FOLEY_TARGET', { env: { FOLEY_TARGET: 'cloud' } }, 'exit 2'],
  ['an unknown FOLEY_TARGET in capitals', { env: { FOLEY_TARGET: 'LOCAL' } }, 'exit 2'],
  // Base URL and key.
  [
    'both in the environment',
    { env: HOSTED },
    'hosted https://env.example/ wss://env.example/ sk-env-1',
  ],
  [
    '--base-url before FOLEY_BASE_URL',
    { flags: { baseUrl: 'https://flag.example/v/' }, env: HOSTED },
    'hosted https://flag.example/v/ wss://flag.example/v/ sk-env-1',
  ],
  [
    '--api-key-file before FOLEY_API_KEY',
    { flags: { apiKeyFile: 'k' }, keyFromFile: 'sk-file-1\n', env: HOSTED },
    'hosted https://env.example/ wss://env.example/ sk-file-1',
  ],
  [
    '--api-key-file before an empty FOLEY_API_KEY',
    { flags: { apiKeyFile: 'k' }, keyFromFile: 'sk-file-1', env: { ...HOSTED, FOLEY_API_KEY: '' } },
    'hosted https://env.example/ wss://env.example/ sk-file-1',
  ],
  ['a base URL without a key', { flags: { baseUrl: 'https://a.example' } }, 'exit 4'],
  [
    'a base URL without a key for public documents',
    { flags: { baseUrl: 'https://a.example' }, publicOnly: true },
    'hosted https://a.example/ wss://a.example/ no key',
  ],
  [
    'public documents of a service with a key',
    { env: HOSTED, publicOnly: true },
    'hosted https://env.example/ wss://env.example/ no key',
  ],
  ['a key without a base URL', { env: { FOLEY_API_KEY: 'sk-1' } }, 'exit 2'],
  ['a key file without a base URL', { flags: { apiKeyFile: '-' }, keyFromFile: 'sk-1' }, 'exit 2'],
  ['FOLEY_API_KEY empty', { env: { FOLEY_API_KEY: '' } }, 'exit 4'],
  ['FOLEY_API_KEY white', { env: { FOLEY_API_KEY: ' \n' } }, 'exit 4'],
  ['FOLEY_API_KEY empty with a base URL', { env: { ...HOSTED, FOLEY_API_KEY: '' } }, 'exit 4'],
  [
    'FOLEY_API_KEY empty with an account',
    { env: { FOLEY_API_KEY: '' }, account: ACCOUNT },
    'exit 4',
  ],
  ['an empty key file', { flags: { apiKeyFile: 'k' }, keyFromFile: '\n', env: HOSTED }, 'exit 4'],
  ['a key that cannot be sent', { env: { ...HOSTED, FOLEY_API_KEY: 'sk-“1”' } }, 'exit 4'],
  // Accounts.
  [
    'an account',
    { account: ACCOUNT },
    'hosted https://api.example/edge wss://rt.example/ sk-account-1',
  ],
  [
    'an account without a realtime host',
    { account: { ...ACCOUNT, realtimeUrl: undefined } },
    'hosted https://api.example/edge wss://api.example/edge sk-account-1',
  ],
  [
    'an account and FOLEY_TARGET=hosted',
    { account: ACCOUNT, env: { FOLEY_TARGET: 'hosted' } },
    'hosted https://api.example/edge wss://rt.example/ sk-account-1',
  ],
  [
    'an account and FOLEY_API_KEY',
    { account: ACCOUNT, env: { FOLEY_API_KEY: 'sk-env-1' } },
    'hosted https://api.example/edge wss://rt.example/ sk-env-1',
  ],
  [
    'an account and another path of its origin',
    { account: ACCOUNT, flags: { baseUrl: 'https://api.example' } },
    'hosted https://api.example/ wss://rt.example/ sk-account-1',
  ],
  [
    'an account and a base URL of another origin',
    { account: ACCOUNT, flags: { baseUrl: 'https://evil.example' } },
    'exit 4',
  ],
  [
    'an account and a base URL of another port',
    { account: ACCOUNT, flags: { baseUrl: 'https://api.example:8443' } },
    'exit 4',
  ],
  [
    'an account and FOLEY_BASE_URL of another origin',
    { account: ACCOUNT, env: { FOLEY_BASE_URL: 'https://evil.example' } },
    'exit 4',
  ],
  [
    'an account and another service’s public documents',
    { account: ACCOUNT, flags: { baseUrl: 'https://b.example' }, publicOnly: true },
    'hosted https://b.example/ wss://b.example/ no key',
  ],
  [
    'an account and a realtime host of another origin',
    { account: ACCOUNT, flags: { realtimeUrl: 'wss://evil.example' } },
    'exit 4',
  ],
  [
    'an account and FOLEY_REALTIME_URL of another origin',
    { account: ACCOUNT, env: { FOLEY_REALTIME_URL: 'wss://evil.example' } },
    'exit 4',
  ],
  [
    'an account and its own API origin as realtime host',
    { account: ACCOUNT, flags: { realtimeUrl: 'wss://api.example' } },
    'hosted https://api.example/edge wss://api.example/ sk-account-1',
  ],
  [
    'an account, another service and a key for it',
    { account: ACCOUNT, env: HOSTED },
    'hosted https://env.example/ wss://env.example/ sk-env-1',
  ],
  [
    '--account before the environment',
    { account: ACCOUNT, flags: { account: 'main' }, env: HOSTED },
    'hosted https://api.example/edge wss://rt.example/ sk-account-1',
  ],
  [
    '--account before an empty key',
    { account: ACCOUNT, flags: { account: 'main' }, env: { FOLEY_API_KEY: '' } },
    'hosted https://api.example/edge wss://rt.example/ sk-account-1',
  ],
  [
    '--account and a base URL of another origin',
    { account: ACCOUNT, flags: { account: 'main', baseUrl: 'https://evil.example' } },
    'exit 4',
  ],
  // Realtime hosts.
  [
    '--realtime-url',
    { env: HOSTED, flags: { realtimeUrl: 'wss://rt.env.example' } },
    'hosted https://env.example/ wss://rt.env.example/ sk-env-1',
  ],
  [
    'FOLEY_REALTIME_URL',
    { env: { ...HOSTED, FOLEY_REALTIME_URL: 'https://rt.env.example' } },
    'hosted https://env.example/ wss://rt.env.example/ sk-env-1',
  ],
  [
    '--realtime-url before FOLEY_REALTIME_URL',
    {
      env: { ...HOSTED, FOLEY_REALTIME_URL: 'wss://b.example' },
      flags: { realtimeUrl: 'wss://a.example' },
    },
    'hosted https://env.example/ wss://a.example/ sk-env-1',
  ],
  ['--realtime-url alone', { flags: { realtimeUrl: 'wss://a.example' } }, 'exit 2'],
  ['FOLEY_REALTIME_URL alone', { env: { FOLEY_REALTIME_URL: 'wss://a.example' } }, 'exit 2'],
  [
    'a realtime host without encryption',
    { env: HOSTED, flags: { realtimeUrl: 'ws://a.example' } },
    'exit 2',
  ],
  // Addresses.
  [
    'http on this computer',
    { flags: { baseUrl: 'http://127.0.0.1:4747' }, env: { FOLEY_API_KEY: 'sk-1' } },
    'hosted http://127.0.0.1:4747/ ws://127.0.0.1:4747/ sk-1',
  ],
  [
    'http on localhost',
    { flags: { baseUrl: 'http://localhost:4747' }, env: { FOLEY_API_KEY: 'sk-1' } },
    'hosted http://localhost:4747/ ws://localhost:4747/ sk-1',
  ],
  [
    'http on IPv6 loopback',
    { flags: { baseUrl: 'http://[::1]:4747' }, env: { FOLEY_API_KEY: 'sk-1' } },
    'hosted http://[::1]:4747/ ws://[::1]:4747/ sk-1',
  ],
  [
    'http on a network',
    { flags: { baseUrl: 'http://api.example' }, env: { FOLEY_API_KEY: 'sk-1' } },
    'exit 2',
  ],
  [
    'http on a name like localhost',
    { flags: { baseUrl: 'http://localhost.example' }, env: { FOLEY_API_KEY: 'sk-1' } },
    'exit 2',
  ],
  [
    'http on a name like an address',
    { flags: { baseUrl: 'http://127.0.0.1.example' }, env: { FOLEY_API_KEY: 'sk-1' } },
    'exit 2',
  ],
  [
    'http on every interface',
    { flags: { baseUrl: 'http://0.0.0.0' }, env: { FOLEY_API_KEY: 'sk-1' } },
    'exit 2',
  ],
  [
    'an address without a scheme',
    { flags: { baseUrl: 'api.example' }, env: { FOLEY_API_KEY: 'sk-1' } },
    'exit 2',
  ],
  [
    'an address of another kind',
    { flags: { baseUrl: 'ftp://api.example' }, env: { FOLEY_API_KEY: 'sk-1' } },
    'exit 2',
  ],
  ['an empty flag', { flags: { baseUrl: '' }, env: { FOLEY_API_KEY: 'sk-1' } }, 'exit 2'],
  [
    'an address with a password',
    { flags: { baseUrl: 'https://me:pw@api.example' }, env: { FOLEY_API_KEY: 'sk-1' } },
    'exit 2',
  ],
  [
    'an address with a query',
    { flags: { baseUrl: 'https://api.example/?a=b' }, env: { FOLEY_API_KEY: 'sk-1' } },
    'exit 2',
  ],
  [
    'an account with an address that is none',
    { account: { ...ACCOUNT, baseUrl: 'nowhere' } },
    'exit 2',
  ],
])('%s', (_name, inputs, expected) => {
  expect(outcome(inputs)).toBe(expected);
});

test('a key without a base URL names both ways to set one', () => {
  expect(() => resolveTarget({ flags: {}, env: { FOLEY_API_KEY: 'sk-1' } })).toThrow(
    expect.objectContaining({ hint: expect.stringMatching(/--base-url.*foley auth login/) }),
  );
});

test('no message contains a key or a password', () => {
  const bad = [
    { env: { ...HOSTED, FOLEY_API_KEY: 'sk-secret-“' } },
    { flags: { baseUrl: 'https://me:sk-secret-1@api.example' }, env: HOSTED },
    { account: { ...ACCOUNT, apiKey: 'sk-secret-1' }, flags: { baseUrl: 'https://evil.example' } },
  ];
  for (const inputs of bad) {
    const error: unknown = tryResolve(inputs);
    expect(error).toMatchObject({ message: expect.any(String) });
    expect(JSON.stringify(error) + String(error)).not.toContain('secret');
  }
});

test('the notice about the embedded service is as specified', () => {
  expect(resolveTarget({ flags: {}, env: {} })).toMatchObject({
    notice: expect.stringMatching(/^foley: using the embedded service; /),
  });
});

function tryResolve(inputs: Partial<TargetInputs>): unknown {
  try {
    return resolveTarget({ flags: {}, env: {}, ...inputs });
  } catch (error) {
    return error;
  }
}
