// Ratios of wall time between whole processes, paired: every round starts each variant once in
// shuffled order, and the median of the per-round ratios to the floor is what counts. Absolute
// times of a shared machine mean nothing.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

/** Both make every Node start slower, and so squeeze the ratios (see docs/decisions/0001-bundle.md). */
const NOISE = new Set(['NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS', 'CI']);

/**
 * @param {{name: string, command: () => {file: string, args: string[], env?: object, input?: string}}[]} variants
 *   the first one is the floor
 * @returns {{name: string, ratio: number, medianMs: number}[]}
 */
export function compare(variants, { rounds = 15 } = {}) {
  const times = new Map(variants.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const variant of shuffled(variants)) {
      const ms = time(variant);
      // The first round warms the disk cache.
      if (round > 0) times.get(variant.name).push(ms);
    }
  }
  const floor = times.get(variants[0].name);
  return variants.map(({ name }) => {
    const own = times.get(name);
    return {
      name,
      ratio: median(own.map((ms, index) => ms / floor[index])),
      medianMs: median(own),
    };
  });
}

function time({ name, command }) {
  const { file, args, env, input } = command();
  const clean = Object.fromEntries(
    Object.entries({ ...process.env, ...env }).filter(([key]) => !NOISE.has(key)),
  );
  const started = performance.now();
  const { status, stderr } = spawnSync(file, args, { env: clean, input: input ?? '' });
  const ms = performance.now() - started;
  if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr.toString()}`);
  return ms;
}

/**
 * Writes a script for `node --require` that notes the peak memory of its process, in kilobytes, when
 * the process ends. `maxRSS` would not do: on Linux it starts with the peak of the parent process.
 */
export function writePeakHook(hook, note) {
  writeFileSync(
    hook,
    `const files = require('node:fs');
process.on('exit', () => {
  const [, kilobytes] = /^VmHWM:\\s+(\\d+) kB$/m.exec(files.readFileSync('/proc/self/status', 'utf8'));
  files.writeFileSync(${JSON.stringify(note)}, kilobytes);
});
`,
  );
}

function shuffled(items) {
  return items
    .map((item) => ({ item, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
