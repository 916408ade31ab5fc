// Entry point of a worker thread that runs a jq expression: an expression may run forever, and only a thread can be stopped.

import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { brotliDecompressSync } from 'node:zlib';
import type { JqResult } from './jq.ts';

if (parentPort === null) throw new Error('This file runs as a worker thread only.');
const port = parentPort;
const expression: string = workerData;
const loading = load();

port.on('message', (document: string) => void run(document).then((result) => reply(result)));

async function load() {
  const { JqError, loadJq } = await import('jq-wasm');
  const file = new URL('packages/jq.wasm.br', import.meta.url);
  return { JqError, jq: await loadJq({ wasmBinary: brotliDecompressSync(readFileSync(file)) }) };
}

async function run(document: string): Promise<JqResult> {
  const { JqError, jq } = await loading;
  try {
    return { values: jq.json(document, expression, ['-c', '--']) };
  } catch (error) {
    // Every other error is WebAssembly without memory or stack.
    return { problem: error instanceof JqError ? error.stderr : 'out of memory' };
  }
}

function reply(result: JqResult): void {
  port.postMessage(result);
}
