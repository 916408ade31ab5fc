// `npm run check`: the long sweeps that `npm test` leaves out. `npm run check -- --only NAME` runs one of them.
import { runChosenGates, vitest } from './gates.mjs';

await runChosenGates(() => [
  { name: 'sweeps', command: vitest('check') },
  // Their packages are a download of 114 MB.
  { name: 'neural', command: vitest('neural') },
  { name: 'other Nodes', command: [process.execPath, 'scripts/node-versions.mjs', '22', '24'] },
]);
