import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { takeLock } from '../../src/durable/lock.ts';
import type { ProcessSystem } from '../../src/system/processes.ts';
import { systemProcesses } from '../../src/system/processes.ts';
import { testSystem } from '../files/file-simulation.ts';
import { requireTool } from '../harness/require-tool.ts';
import { createSandbox } from '../harness/sandbox.ts';

const BOOT = '3F8A2C51-6B1E-4F0C-9C55-0A1B2C3D4E5F';
const START_MS = Date.UTC(2026, 10, 22, 8, 30, 15, 480);

/** A computer whose only other process is `pid` 4711, which `ps` and PowerShell describe. */
function computer(changes: Partial<ProcessSystem> & { readonly startedAt?: string } = {}) {
  const { startedAt = 'Sun Nov 22 08:30:15 2026', ...rest } = changes;
  return systemProcesses({
    platform: 'darwin',
    env: { SystemRoot: 'C:\\Windows' },
    pid: 1000,
    hostName: 'laptop.local',
    startedAtMs: START_MS,
    readText: () => undefined,
    readLink: () => undefined,
    run(program, args) {
      if (program === '/usr/sbin/sysctl' && args.at(-1) === 'kern.bootsessionuuid') return BOOT;
      if (program === '/bin/ps' && args.at(-1) === '4711') return `S+   ${startedAt}`;
      if (program.endsWith('powershell.exe') && args.at(-1)?.includes('-Id 4711') === true) {
        return String(Date.parse(`${startedAt} UTC`));
      }
      return undefined;
    },
    exists: (pid) => pid === 1000 || pid === 4711,
    ...rest,
  });
}

const OTHER = computer({ pid: 4711 }).self;

describe('on macOS, a process', () => {
  it('is alive under another host name', () => {
    expect(computer({ hostName: 'dhcp-17.cafe' }).liveness(OTHER)).toBe('alive');
  });

  it('that has ended is dead under another host name', () => {
    const { liveness } = computer({ hostName: 'dhcp-17.cafe', exists: (pid) => pid === 1000 });
    expect(liveness(OTHER)).toBe('dead');
  });

  it('is dead if its id belongs to a later process', () => {
    expect(computer({ startedAt: 'Sun Nov 22 09:30:15 2026' }).liveness(OTHER)).toBe('dead');
  });

  it('is dead if it is a zombie', () => {
    const { liveness } = computer({ run: () => 'Z    Sun Nov 22 08:30:15 2026' });
    expect(liveness({ ...OTHER, bootId: undefined })).toBe('dead');
  });

  it('is dead after a restart of the computer', () => {
    const { liveness } = computer({ run: () => 'A0000000-6B1E-4F0C-9C55-0A1B2C3D4E5F' });
    expect(liveness(OTHER)).toBe('dead');
  });

  it('of another computer is unknown', () => {
    const other = { ...OTHER, host: 'studio.local', bootId: 'another' };
    expect(computer().liveness(other)).toBe('unknown');
  });

  it('is unknown if ps cannot run', () => {
    expect(computer({ run: () => undefined }).liveness({ ...OTHER, bootId: undefined })).toBe(
      'unknown',
    );
  });
});

describe('on Windows, a process', () => {
  const platform = 'win32';
  const other = computer({ platform, pid: 4711 }).self;

  it.each([
    ['is alive if it started when it says', {}, 'alive'],
    [
      'is dead if its id belongs to a later process',
      { startedAt: 'Sun Nov 22 09:00:00 2026' },
      'dead',
    ],
    ['is dead if its id is unused', { exists: () => false }, 'dead'],
    ['is unknown if PowerShell cannot run', { run: () => undefined }, 'unknown'],
    ['is unknown on another computer', { hostName: 'elsewhere' }, 'unknown'],
  ] as const)('%s', (_title, changes, expected) => {
    expect(computer({ platform, ...changes }).liveness(other)).toBe(expected);
  });
});

/** Lets a process take a lock, and returns a function with which another takes it. */
async function lockedBy(holder: ReturnType<typeof computer>) {
  const { root } = await createSandbox();
  const take = (processes: ReturnType<typeof computer>): Promise<unknown> =>
    takeLock(testSystem({ processes }), path.join(root, 'lock'), {
      lastActivity: async () => Date.now(),
      lockedError: () => new Error('locked'),
    });
  await take(holder);
  return take;
}

describe('a lock on macOS', () => {
  it('of a live process is kept when the host name changes', async () => {
    const take = await lockedBy(computer({ pid: 4711 }));
    await expect(take(computer({ hostName: 'dhcp-17.cafe' }))).rejects.toThrow('locked');
  });

  it('of a dead process is replaced when the host name changes', async () => {
    const take = await lockedBy(computer({ pid: 4711 }));
    await take(computer({ hostName: 'dhcp-17.cafe', exists: (pid) => pid === 1000 }));
  });

  it('of a dead process is replaced when its id is reused', async () => {
    const take = await lockedBy(computer({ pid: 4711 }));
    await take(computer({ startedAt: 'Sun Nov 22 12:00:00 2026' }));
  });
});

it('`ps` of this system prints start times that the check for macOS reads', async () => {
  const ps = requireTool('ps');
  const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)']);
  await once(child, 'spawn');
  const startedAtMs = Date.now();
  const run = (program: string, args: readonly string[]): string | undefined =>
    program === '/bin/ps'
      ? execFileSync(ps, args, { env: { LC_ALL: 'C', TZ: 'UTC' } })
          .toString()
          .trim()
      : undefined;
  const { self } = computer({ pid: child.pid ?? 0, startedAtMs, run });
  const { liveness } = computer({ run, exists: () => true });
  expect(liveness(self)).toBe('alive');
  expect(liveness({ ...self, processStart: String(startedAtMs + 60_000) })).toBe('dead');
  child.kill();
  await once(child, 'exit');
});
