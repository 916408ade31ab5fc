import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/system/clock.ts';
import type { RuleReport } from '../../src/engines/conformance.ts';
import { testEngine } from '../../src/engines/conformance.ts';
import {
  MORSE,
  recordingLauncher,
  registrationOf,
} from '../service/engine/process/engine-under-test.ts';

const FAULTY = fileURLToPath(
  new URL('../service/engine/process/engines/faulty.mjs', import.meta.url),
);

async function test(args: readonly string[], steps: string[] = []): Promise<RuleReport[]> {
  const { launch } = recordingLauncher();
  const { signal } = new AbortController();
  const onProgress = (step: string): number => steps.push(step);
  const options = { launch, clock: systemClock, signal, onProgress };
  const reports: RuleReport[] = [];
  for await (const report of testEngine(registrationOf(args), options)) reports.push(report);
  return reports;
}

/** The rules that did not pass, with what was found. */
const broken = (reports: readonly RuleReport[]): readonly string[] =>
  reports
    .filter(({ status }) => status === 'failed' || status === 'warning')
    .map(({ found, rule, status }) => `${rule} ${status}: ${found}`);

describe('the test of an engine', () => {
  it('passes an engine with every capability, and reports its steps', async () => {
    const steps: string[] = [];
    const reports = await test([FAULTY], steps);
    expect(reports.filter(({ status }) => status !== 'passed')).toEqual([]);
    expect(reports.every(({ mend }) => mend === null)).toBe(true);
    expect(steps).toContain('voice b (2 of 2)');
  });

  it('passes the example of version 1, and skips what it does not declare', async () => {
    const reports = await test([MORSE]);
    expect(broken(reports)).toEqual([expect.stringMatching(/^rate warning: voice key lasts 17/)]);
    const skipped = reports.filter(({ status }) => status === 'skipped');
    expect(skipped.map(({ rule }) => rule)).toEqual(['concurrency']);
  });

  it.each([
    ['logs to stdout', /^hello failed: .*it wrote "Loading model\.\.\." to stdout/],
    ['cannot load', /^hello failed: The engine tested says: no GPU/],
  ])('of an engine that %s skips the other rules', async (fault, found) => {
    const reports = await test([FAULTY, fault]);
    expect(broken(reports)).toEqual([expect.stringMatching(found)]);
    expect(reports.filter(({ status }) => status === 'skipped')).toHaveLength(reports.length - 1);
  });
});
