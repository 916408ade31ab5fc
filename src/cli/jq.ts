import { Worker } from 'node:worker_threads';
import { abortable } from '../system/concurrency.ts';
import type { Billed } from '../errors/failure.ts';
import { Failure, usageFailure } from '../errors/failure.ts';
import { displayText, toJson } from '../text/display.ts';

/** Script of the worker thread that runs jq. The relative path is valid both in the sources and in the build. */
const WORKER_FILE = new URL('../../dist/jq-worker.cjs', import.meta.url);

const HINT = 'See https://jqlang.org/manual for expressions, and quote them for the shell.';

/** The values that a jq expression returned, or the error message of jq. */
export type JqResult = { readonly values: readonly unknown[] } | { readonly problem: string };

interface FilterOptions {
  /** Whether the output is for a terminal: JSON is indented, and control characters in strings are escaped. */
  readonly isTerminal: boolean;
  /** The billing outcome to report if the expression fails. */
  readonly billed: Billed;
}

/** A compiled expression of `--jq`. It runs in a thread, which `close` ends. */
export interface JqFilter {
  /**
   * Applies the expression to a document. Returns one line for each result; a string is printed without quotes.
   * @throws Failure if the expression fails: of kind `output` if the command may have been billed, otherwise of kind
   *   `usage`. On abort, throws the signal's abort reason.
   */
  apply(data: unknown, options: FilterOptions): Promise<string>;
  close(): Promise<unknown>;
}

/**
 * Compiles the expression of `--jq`. On abort, throws the signal's abort reason.
 * @throws Failure of kind `usage` for a syntax error; the message contains the line and column
 */
export async function openFilter(expression: string, signal: AbortSignal): Promise<JqFilter> {
  signal.throwIfAborted();
  // WebAssembly writes to stderr before it throws.
  const worker = new Worker(WORKER_FILE, { name: 'jq', workerData: expression, stderr: true });
  try {
    // Without a document, jq only compiles.
    const checked = await runIn(worker, '', signal);
    if ('problem' in checked) throw usageFailure(`--jq: ${problemOf(checked.problem)}`, HINT);
  } catch (error) {
    await worker.terminate();
    throw error;
  }
  return {
    async apply(data, { billed, isTerminal }) {
      const result = await runIn(worker, JSON.stringify(data), signal);
      if ('problem' in result) {
        const exit = billed === 'no' ? 'usage' : 'output';
        const message = `--jq: ${problemOf(result.problem)}`;
        throw new Failure(message, { code: exit, exit, billed, hint: HINT });
      }
      return result.values.map((value) => `${lineOf(value, isTerminal)}\n`).join('');
    },
    close: () => worker.terminate(),
  };
}

function runIn(worker: Worker, document: string, signal: AbortSignal): Promise<JqResult> {
  const result = new Promise<JqResult>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('The thread of jq ended unexpectedly.')));
    worker.postMessage(document, []);
  });
  return abortable(result, signal);
}

function lineOf(value: unknown, isTerminal: boolean): string {
  if (typeof value !== 'string') return toJson(value, isTerminal);
  return isTerminal ? displayText(value) : value;
}

// `jq: error: syntax error, … at <top-level>, line 1, column 4:` and lines that show the place.
function problemOf(message: string): string {
  const [first = ''] = message.split('\n');
  return first
    .replace(/^jq: error(?: \(at \S+\))?(?: \(not a string\))?: /, '')
    .replace(/ at <top-level>, line (\d+), column (\d+):?$/, ' (line $1, column $2)');
}
