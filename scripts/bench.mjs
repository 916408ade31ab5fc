// Runs every file of bench/ that measures something, prints its table, and fails above a limit.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { root, setUp } from './set-up.mjs';

setUp();
const wanted = process.argv.slice(2);
const names = readdirSync(path.join(root, 'bench')).filter(
  (name) =>
    name !== 'measure.mjs' && (wanted.length === 0 || wanted.includes(path.parse(name).name)),
);
for (const name of names) {
  const { title, limits, measure } = await import(pathToFileURL(path.join(root, 'bench', name)));
  console.log(title);
  for (const { name: variant, ratio, medianMs } of await measure()) {
    const limit = limits[variant];
    const verdict = limit === undefined ? '' : ratio <= limit ? `≤ ${limit}` : `ABOVE ${limit}`;
    console.log(
      `  ${variant.padEnd(40)} ${ratio.toFixed(2).padStart(7)} ×  ${medianMs.toFixed(0).padStart(6)} ms  ${verdict}`,
    );
    if (limit !== undefined && ratio > limit) process.exitCode = 1;
  }
}
