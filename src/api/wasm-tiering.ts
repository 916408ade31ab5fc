import { setFlagsFromString } from 'node:v8';

/**
 * Node 20 optimizes undici's WebAssembly parser on a background thread and waits for it at exit:
 * 70 to 95 ms after the last byte. A budget that is never used up prevents that. It belongs to the
 * module that is compiled while it is set, so that it is put back at once and speech engines in the
 * same process are compiled as ever. Later Nodes do not have the problem.
 */
const NEVER = '--wasm-tiering-budget=1000000000';
const DEFAULT_OF_NODE_20 = '--wasm-tiering-budget=1800000';
const isNode20 = process.versions.node.startsWith('20.');

/** Runs `compile`; WebAssembly modules that it compiles are not optimized in the background. */
export function withoutTierUp(compile: () => void): void {
  if (!isNode20) return compile();
  setFlagsFromString(NEVER);
  try {
    compile();
  } finally {
    setFlagsFromString(DEFAULT_OF_NODE_20);
  }
}
