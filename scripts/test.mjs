// `npm test`: makes the clone ready and runs every gate, in the order in which they fail fastest.
// `npm test -- --only unit` runs one of them.
import { runChosenGates, tool, vitest } from './gates.mjs';

await runChosenGates(() => [
  [
    { name: 'lint', command: tool('oxlint', '--type-aware', '--deny-warnings') },
    { name: 'format', command: tool('oxfmt', '--check') },
    { name: 'types', command: tool('tsc', '--noEmit') },
    { name: 'unused code', command: tool('knip') },
    { name: 'generated files', command: [process.execPath, 'scripts/generate.mjs', '--check'] },
  ],
  { name: 'unit', command: vitest('unit') },
  { name: 'conformance', command: vitest('conformance') },
  { name: 'binary', command: vitest('binary') },
  [
    { name: 'validators', command: vitest('validators') },
    { name: 'packed tarball', command: [process.execPath, 'scripts/packed.mjs'] },
  ],
]);
