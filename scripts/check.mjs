// `npm run check`: the long sweeps that `npm test` leaves out. `npm run check -- --only NAME` runs one of them.
import { runChosenGates, vitest } from './gates.mjs';

await runChosenGates(() => [
  { name: 'sweeps', command: vitest('check') },
  // Takes six minutes or more: `npm run check -- --only linear`. The soak runs it too.
  ...(process.argv.includes('linear') ? [{ name: 'linear', command: vitest('linear') }] : []),
  { name: 'sparse service', command: vitest('sparse') },
  // Their packages are a download of 114 MB.
  { name: 'neural', command: vitest('neural') },
  { name: 'other Nodes', command: [process.execPath, 'scripts/node-versions.mjs'] },
]);
