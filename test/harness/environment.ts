import path from 'node:path';
import type { Sandbox } from './sandbox.ts';

/** What a program cannot run without on some system; never anything that changes what foley does. */
const KEPT = ['SystemRoot', 'ComSpec', 'PATHEXT'] as const;

/**
 * The environment of a command under test, made from nothing: no `FOLEY_*`, proxy, colour, `CI` or
 * `NODE_*` variable of the person who runs the tests gets in. Engines end with the command, so that none is left.
 */
export function cleanEnvironment(
  sandbox: Sandbox,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const kept = KEPT.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(kept),
    PATH: process.env['PATH'] ?? '',
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    HOME: sandbox.home,
    XDG_CONFIG_HOME: sandbox.config,
    XDG_STATE_HOME: sandbox.state,
    XDG_CACHE_HOME: sandbox.cache,
    TMPDIR: sandbox.temporary,
    ...(process.platform === 'win32' ? windowsFolders(sandbox) : {}),
    FOLEY_KEEP_ALIVE: '0',
    ...more,
  };
}

function windowsFolders({ home, temporary }: Sandbox): Record<string, string> {
  return { USERPROFILE: home, TEMP: temporary, TMP: temporary };
}

/** The same environment with a folder in front of PATH. */
export function withPath(
  environment: Readonly<Record<string, string>>,
  folder: string,
): Record<string, string> {
  return { ...environment, PATH: `${folder}${path.delimiter}${environment['PATH'] ?? ''}` };
}
