import type { MemoryFile } from './memory-file.ts';
import { ProgramExit, startingState, wasiCalls } from './wasi-calls.ts';
import { WasiMemory } from './wasi-memory.ts';

/** A program that can be run once: it keeps state in its memory, so each run needs a fresh one. */
export interface WasiCommand {
  /**
   * Runs it to its end. It sees `files` as the whole file system, changes them and adds to them.
   *
   * @param args the first is the program's own name
   * @param onPrint is called with what it prints, a line or a part of one, before it goes on
   * @throws whatever trap the program runs into
   */
  run(
    args: readonly string[],
    files: Map<string, MemoryFile>,
    onPrint?: (text: string) => void,
  ): WasiOutcome;
}

export interface WasiOutcome {
  readonly exitCode: number;
  /** What it printed, to stdout and stderr alike; the beginning of it. */
  readonly output: string;
}

/**
 * Makes ready a command compiled for WASI preview 1, which then runs without touching the machine:
 * its files live in memory, it has no environment and no clock. Only the calls that flite makes
 * are there; a module that imports others is refused.
 */
export function prepareWasiCommand(module: WebAssembly.Module): WasiCommand {
  const state = startingState();
  const memory = new WasiMemory();
  const instance = new WebAssembly.Instance(module, {
    wasi_snapshot_preview1: wasiCalls(memory, state),
  });
  const { memory: exported, _start: start } = instance.exports;
  if (!(exported instanceof WebAssembly.Memory) || typeof start !== 'function') {
    throw new TypeError('The WebAssembly module is not a WASI command.');
  }
  memory.attach(exported);
  return {
    run(args, files, onPrint = () => {}) {
      state.args = args.map((argument) => new TextEncoder().encode(`${argument}\0`));
      state.files = files;
      state.onPrint = onPrint;
      const exitCode = runToExit(() => Reflect.apply(start, undefined, []));
      return { exitCode, output: state.output };
    },
  };
}

function runToExit(start: () => unknown): number {
  try {
    start();
    return 0;
  } catch (error) {
    if (error instanceof ProgramExit) return error.exitCode;
    throw error;
  }
}
