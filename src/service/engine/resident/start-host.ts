import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { engineEnvironment } from '../process/launch-engine.ts';
import { HOST_FILE } from './host-client.ts';

export interface HostProgram {
  /** Environment variables of this process. An engine host receives only an allowed subset of them. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Path of the Node executable. */
  readonly nodePath: string;
}

/**
 * Starts the program that keeps an engine ready between commands. The program outlives this process.
 * @param args the path of the socket; for the built-in engine also its idle time in milliseconds
 * @param registration the engine that the user added; undefined for the built-in engine
 */
export function startHost(
  { env, nodePath }: HostProgram,
  args: readonly string[],
  registration?: string,
): ChildProcess {
  const child = spawn(nodePath, [HOST_FILE, ...args], {
    cwd: path.parse(nodePath).root,
    env: engineEnvironment(env),
    // The host inherits no stream of foley. The pipe carries the registration only.
    stdio: [registration === undefined ? 'ignore' : 'pipe', 'ignore', 'ignore'],
    detached: true,
    windowsHide: true,
  });
  child.on('error', () => undefined);
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(registration);
  child.unref();
  return child;
}
