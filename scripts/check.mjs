// `npm run check`: the long sweeps that `npm test` leaves out. `npm run check -- --only NAME` runs one of them.
import { runChosenGates, vitest } from './gates.mjs';

await runChosenGates(() => [
  { name: 'conformance', command: vitest('conformance') },
  { name: 'sweeps', command: vitest('check') },
  // They take too long for every run: `npm run check -- --only long`, or linear. The soak runs them too.
  ...['long', 'linear']
    .filter((name) => process.argv.includes(name))
    .map((name) => ({ name, command: vitest(name) })),
  { name: 'sparse service', command: vitest('sparse') },
  // Their packages are a download of 114 MB.
  { name: 'neural', command: vitest('neural') },
  [
    { name: 'validators', command: vitest('validators') },
    { name: 'same tarball', command: [process.execPath, 'scripts/packed-twice.mjs'] },
  ],
  { name: 'other Nodes', command: [process.execPath, 'scripts/node-versions.mjs'] },
]);
