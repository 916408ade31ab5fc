import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AudioEncoder } from './audio-encoder.ts';

/**
 * LAME or libvorbis as `wasm-media-encoders` compiles them. Its WebAssembly is called directly: the
 * package's own script holds both encoders as text, which takes a sixth of the start-up to read.
 *
 * @param codec the package's name of the file
 */
export function loadWasmCodec(codec: CodecName): Promise<WebAssembly.Module> {
  const loading = loaded.get(codec) ?? compile(codec);
  loaded.set(codec, loading);
  return loading;
}

type CodecName = 'mp3' | 'ogg';

/** Compiled once; every stream has an instance of its own. */
const loaded = new Map<CodecName, Promise<WebAssembly.Module>>();

async function compile(codec: CodecName): Promise<WebAssembly.Module> {
  const file = createRequire(import.meta.url).resolve(`wasm-media-encoders/wasm/${codec}`);
  return new WebAssembly.Module(await readFile(file));
}

/**
 * A stream of one channel, in an instance of its own: its memory goes when it is dropped.
 *
 * @param parameters the codec's own, as the 32-bit words that follow the rate
 * @throws Error when the codec refuses the parameters or fails
 */
export class WasmEncoder implements AudioEncoder {
  readonly #codec: Codec;
  readonly #stream: number;

  constructor(module: WebAssembly.Module, sampleRate: number, parameters: ArrayBuffer) {
    this.#codec = codecOf(new WebAssembly.Instance(module, IMPORTS));
    this.#codec.initialize();
    const channels = 1;
    const words = new Uint32Array([channels, sampleRate, ...new Uint32Array(parameters)]);
    const pointer = this.#codec.malloc(words.byteLength);
    new Uint32Array(this.#codec.memory.buffer, pointer, words.length).set(words);
    this.#stream = this.#codec.init(pointer);
    this.#codec.free(pointer);
    if (this.#stream === 0) throw new Error(`The encoder refuses a rate of ${sampleRate} Hz.`);
  }

  encode(samples: Float32Array): Uint8Array<ArrayBuffer> {
    const channels = this.#codec.inputOf(this.#stream, samples.length);
    if (channels === 0) throw new Error('The encoder is out of memory.');
    const { buffer } = this.#codec.memory;
    const [input = 0] = new Uint32Array(buffer, channels, 1);
    new Float32Array(buffer, input, samples.length).set(samples);
    return this.#output(this.#codec.encode(this.#stream, samples.length));
  }

  finish(): Uint8Array<ArrayBuffer> {
    return this.#output(this.#codec.flush(this.#stream));
  }

  /** A copy: the encoder writes over its own buffer at the next call. */
  #output(length: number): Uint8Array<ArrayBuffer> {
    if (length < 0) throw new Error(`The encoder failed with ${length}.`);
    const pointer = this.#codec.outputOf(this.#stream);
    return new Uint8Array(this.#codec.memory.buffer, pointer, length).slice();
  }
}

const IMPORTS = {
  wasi_snapshot_preview1: {
    proc_exit: (exitCode: number): number => {
      throw new Error(`The encoder ended itself with exit code ${exitCode}.`);
    },
  },
  env: { emscripten_notify_memory_growth: (): void => {} },
};

type WasmFunction = (...parameters: number[]) => number;

interface Codec {
  readonly memory: WebAssembly.Memory;
  readonly initialize: WasmFunction;
  readonly malloc: WasmFunction;
  readonly free: WasmFunction;
  readonly init: WasmFunction;
  readonly inputOf: WasmFunction;
  readonly encode: WasmFunction;
  readonly flush: WasmFunction;
  readonly outputOf: WasmFunction;
}

function codecOf({ exports }: WebAssembly.Instance): Codec {
  const { memory } = exports;
  if (!(memory instanceof WebAssembly.Memory)) throw new TypeError('The encoder has no memory.');
  const named = (name: string): WasmFunction => {
    const exported = exports[name];
    if (!isWasmFunction(exported)) throw new TypeError(`The encoder has no ${name}.`);
    return exported;
  };
  return {
    memory,
    initialize: named('_initialize'),
    malloc: named('malloc'),
    free: named('free'),
    init: named('enc_init'),
    inputOf: named('enc_get_pcm'),
    encode: named('enc_encode'),
    flush: named('enc_flush'),
    outputOf: named('enc_get_out_buf'),
  };
}

function isWasmFunction(exported: unknown): exported is WasmFunction {
  return typeof exported === 'function';
}
