import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/system/clock.ts';
import type { RuleReport } from '../../../src/engines/conformance.ts';
import { testEngine } from '../../../src/engines/conformance.ts';
import {
  recordingLauncher,
  registrationOf,
} from '../../service/engine/process/engine-under-test.ts';

const FAULTY = fileURLToPath(
  new URL('../../service/engine/process/engines/faulty.mjs', import.meta.url),
);

async function test(args: readonly string[]): Promise<RuleReport[]> {
  const { launch } = recordingLauncher();
  const { signal } = new AbortController();
  const options = { launch, clock: systemClock, signal, onProgress: () => undefined };
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
  it.each([
    ['has a twin', ['ids failed: two have the id a']],
    [
      'has a voice that is mute',
      ['speech failed: b: The engine tested made no sound for the text.'],
    ],
    [
      'has another rate',
      [/^rate warning: voice a lasts \d+\.\d s for 32 characters \(and 1 more\)$/],
    ],
    ...['is declared too slow', 'is declared too fast'].map((fault): [string, RegExp[]] => [
      fault,
      [/^rate warning: voice a lasts \d\.\d s for 32 characters \(and 1 more\)$/],
    ]),
    [
      'fails for long texts',
      [
        'speech failed: The engine tested says: too many tokens',
        /^cancel failed: .*too many tokens/,
      ],
    ],
    [
      'is silent',
      ['silence failed: voice a is silent (and 1 more)', /^controls failed: no effect: pitch,/],
    ],
    ['clips', [/^clipping failed: voice a has \d+ runs/, /^level warning/, /^controls/]],
    ['is loud', [/^level warning: voice a has -8\.2 LUFS/]],
    ['misses a word', ['words failed: voice a has no time for morning (and 1 more)']],
    ['stops at a line break', ['text failed: two sentences last 1.3 times as long as one']],
    [
      'fails without letters',
      ['unspeakable failed: The engine tested says: list index out of range'],
    ],
    [
      'dies without letters',
      [/^unspeakable failed: .*exit code 1 .*no letters/, 'recovery failed: the process ended'],
    ],
    ['ignores cancel', ['cancel failed: the request continued for 2 s']],
    ['mixes up requests', [/^concurrency failed/]],
    ['ignores speed', ['controls failed: no effect: speed']],
    ['ignores emotion', ['controls warning: no effect: emotion']],
    ['stays', ['end failed: the process continued and was killed']],
    ['logs at the end', [/^end failed: it wrote "bye" to stdout, which is for messages only/]],
  ])('of an engine that %s says which rule it breaks', async (fault, found) => {
    const reports = await test([FAULTY, fault]);
    expect(broken(reports)).toEqual(
      found.map((one) => (typeof one === 'string' ? one : expect.stringMatching(one))),
    );
    for (const { mend, status } of reports) expect(mend !== null).toBe(/failed|warn/.test(status));
  });

  it.each([
    ['sends 32-bit floats', 'has 32-bit floating-point numbers'],
    ['sends 64-bit floats', 'has 64-bit floating-point numbers'],
    ['sends two channels', 'has every sample twice, as for two channels'],
    ['swaps bytes', 'has the bytes of each sample reversed'],
    ['sends a file', 'begins with the header of a file (RIFF)'],
  ])('of an engine that %s fails it for its format', async (fault, found) => {
    const reports = await test([FAULTY, fault]);
    expect(broken(reports)).toContain(`format failed: voice a ${found} (and 1 more)`);
  });
});
