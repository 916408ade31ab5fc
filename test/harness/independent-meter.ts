import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Measures by ITU-R BS.1770: loudness in LUFS, true peak in decibels of full scale. */
export interface IndependentMeter {
  mono(rate: number, samples: Float32Array): number;
  stereo(rate: number, left: Float32Array, right: Float32Array): number;
  truePeakDb(rate: number, samples: Float32Array): number;
}

/** The meter of the package `ebur128-wasm`, a port of libebur128. */
export function independentMeter(): Promise<IndependentMeter> {
  meter ??= loadMeter();
  return meter;
}

let meter: Promise<IndependentMeter> | undefined;

/** The package is made for bundlers that import WebAssembly; Node 20 does not, so load it by hand. */
async function loadMeter(): Promise<IndependentMeter> {
  const require = createRequire(import.meta.url);
  const glueFile = require.resolve('ebur128-wasm/ebur128_wasm_bg.js');
  const glueCode = readFileSync(glueFile, 'utf8').replace(
    /^import \* as wasm from .*$/m,
    'let wasm; export const connect = (exports) => { wasm = exports; };',
  );
  const glue = await import(`data:text/javascript,${encodeURIComponent(glueCode)}`);
  const binary = readFileSync(require.resolve('ebur128-wasm/ebur128_wasm_bg.wasm'));
  const imports = { './ebur128_wasm_bg.js': { ...glue } };
  const instance = new WebAssembly.Instance(new WebAssembly.Module(binary), imports);
  glue.connect(instance.exports);
  return {
    mono: glue.ebur128_integrated_mono,
    stereo: glue.ebur128_integrated_stereo,
    truePeakDb: glue.ebur128_true_peak_mono,
  };
}
