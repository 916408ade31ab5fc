// `npm test`: makes the clone ready and runs every gate, in the order in which they fail fastest.
// `npm test -- --only unit` runs one of them.
import { bin, runChosenGates, vitest } from './gates.mjs';

await runChosenGates([
  [
    { name: 'lint', command: [bin('oxlint'), '--type-aware', '--deny-warnings'] },
    { name: 'format', command: [bin('oxfmt'), '--check'] },
    { name: 'types', command: [bin('tsc'), '--noEmit'] },
    { name: 'unused code', command: [bin('knip')] },
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
