// `npm test`: makes the clone ready and runs every gate, in the order in which they fail fastest.
// `npm test -- --only types` runs one of them.
import { runChosenGates, tool, vitest } from './gates.mjs';

await runChosenGates(() => [
  [
    { name: 'lint', command: tool('oxlint', '--type-aware', '--deny-warnings') },
    { name: 'format', command: tool('oxfmt', '--check') },
    { name: 'types', command: tool('tsc', '--noEmit') },
    { name: 'unused code', command: tool('knip') },
    { name: 'generated files', command: [process.execPath, 'scripts/generate.mjs', '--check'] },
    { name: 'packed tarball', command: [process.execPath, 'scripts/packed.mjs'] },
  ],
  { name: 'tests', command: vitest('tests') },
]);
