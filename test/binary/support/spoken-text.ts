import { expect } from 'vitest';
import { runFoley } from '../../harness/run-foley.ts';
import type { RunOptions, RunResult } from '../../harness/run-options.ts';
import { speechBodyOf, startHostedService } from './hosted-service.ts';

/** The text that reaches the service. */
export async function spokenText(
  args: readonly string[],
  options: RunOptions = {},
): Promise<unknown> {
  const { server, env } = await startHostedService();
  const result = await runFoley(['tts', '-o', 'out.wav', ...args], { ...options, env });
  expect(result.stderr).toMatch(/^out\.wav: /m);
  expect(result.code).toBe(0);
  const body = speechBodyOf(server);
  return typeof body === 'object' && body !== null && 'text' in body ? body.text : undefined;
}

/** Runs a command that must end in a usage error before the service is asked for anything. */
export async function refused(
  args: readonly string[],
  options: RunOptions = {},
): Promise<RunResult> {
  const { server, env } = await startHostedService();
  const result = await runFoley(['tts', ...args], { ...options, env });
  expect(result.code, result.stderr).toBe(2);
  expect(result.stdout).toHaveLength(0);
  expect(server.connections).toBe(0);
  return result;
}
