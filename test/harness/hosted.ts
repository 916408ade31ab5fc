import type { FaultServer } from '../fault-server/fault-server.ts';
import { canaryKey } from './canary.ts';

/**
 * The environment of a command that talks to a fault server as to the hosted service, with a fresh
 * canary key; further variables win.
 */
export function hosted(
  server: FaultServer,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return { FOLEY_BASE_URL: server.origin, FOLEY_API_KEY: canaryKey(), ...more };
}
