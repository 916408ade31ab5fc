import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AudioEncoder } from './pcm.ts';

type CodecName = 'mp3' | 'ogg';

interface WasmCodec {
  readonly module: WebAssembly.Module;
  readonly idle: Codec[];
  readonly mostIdle: number;
}

// An idle instance has 16 MB of memory, which slows down the garbage collector. libvorbis leaks memory with each
// stream, so its instances are not reused.
const MOST_IDLE = { mp3: 4, ogg: 0 };

const loaded = new Map<CodecName, Promise<WasmCodec>>();

function loadWasmCodec(name: CodecName): Promise<WasmCodec> {
  const loading = loaded.get(name) ?? compile(name);
  loaded.set(name, loading);
  return loading;
}

async function compile(name: CodecName): Promise<WasmCodec> {
  // The script of the package contains both encoders as text, and is slow to load.
  const file = createRequire(import.meta.url).resolve(`wasm-media-encoders/wasm/${name}`);
  const module = new WebAssembly.Module(await readFile(file));
  return { module, idle: [], mostIdle: MOST_IDLE[name] };
}

class WasmEncoder implements AudioEncoder {
  readonly #source: WasmCodec;
  readonly #codec: Codec;
  readonly #stream: number;
  #isReusable = true;

  constructor(source: WasmCodec, sampleRate: number, parameters: ArrayBuffer) {
    this.#source = source;
    this.#codec = source.idle.pop() ?? instantiate(source.module);
    const channels = 1;
    const words = new Uint32Array([channels, sampleRate, ...new Uint32Array(parameters)]);
    const pointer = this.#codec.malloc(words.byteLength);
    new Uint32Array(this.#codec.memory.buffer, pointer, words.length).set(words);
    this.#stream = this.#codec.init(pointer);
    this.#codec.free(pointer);
    if (this.#stream === 0)
      throw new Error(`The encoder does not support a sample rate of ${sampleRate} Hz.`);
  }

  encode(samples: Float32Array): Uint8Array<ArrayBuffer> {
    this.#isReusable = false;
    const channels = this.#codec.inputOf(this.#stream, samples.length);
    if (channels === 0) throw new Error('The encoder is out of memory.');
    const { buffer } = this.#codec.memory;
    const [input = 0] = new Uint32Array(buffer, channels, 1);
    new Float32Array(buffer, input, samples.length).set(samples);
    return this.#output(this.#codec.encode(this.#stream, samples.length));
  }

  finish(): Uint8Array<ArrayBuffer> {
    this.#isReusable = false;
    return this.#output(this.#codec.flush(this.#stream));
  }

  close(): void {
    if (!this.#isReusable) return;
    this.#isReusable = false;
    this.#codec.freeStream(this.#stream);
    const { idle, mostIdle } = this.#source;
    if (idle.length < mostIdle) idle.push(this.#codec);
  }

  #output(length: number): Uint8Array<ArrayBuffer> {
    if (length < 0) throw new Error(`The encoder failed with code ${length}.`);
    const pointer = this.#codec.outputOf(this.#stream);
    const bytes = new Uint8Array(this.#codec.memory.buffer, pointer, length).slice();
    this.#isReusable = true;
    return bytes;
  }
}

const IMPORTS = {
  wasi_snapshot_preview1: {
    proc_exit: (exitCode: number): number => {
      throw new Error(`The encoder exited with code ${exitCode}.`);
    },
  },
  env: { emscripten_notify_memory_growth: (): void => {} },
};

type WasmFunction = (...parameters: number[]) => number;

const FUNCTIONS = {
  initialize: '_initialize',
  malloc: 'malloc',
  free: 'free',
  init: 'enc_init',
  inputOf: 'enc_get_pcm',
  encode: 'enc_encode',
  flush: 'enc_flush',
  outputOf: 'enc_get_out_buf',
  freeStream: 'enc_free',
} as const;

type Codec = Readonly<Record<keyof typeof FUNCTIONS, WasmFunction>> & {
  readonly memory: WebAssembly.Memory;
};

function instantiate(module: WebAssembly.Module): Codec {
  const { exports } = new WebAssembly.Instance(module, IMPORTS);
  const { memory } = exports;
  if (!(memory instanceof WebAssembly.Memory)) throw new TypeError('The encoder has no memory.');
  const functions = Object.entries(FUNCTIONS).map(([method, name]) => {
    if (!isWasmFunction(exports[name])) throw new TypeError(`The encoder has no ${name}.`);
    return [method, exports[name]];
  });
  const codec: Codec = { memory, ...Object.fromEntries(functions) };
  codec.initialize();
  return codec;
}

function isWasmFunction(exported: unknown): exported is WasmFunction {
  return typeof exported === 'function';
}

export const MP3_KILOBITS_PER_SECOND = 128;

/** Opens an mp3 encoder with a constant 128 kbit/s, for mono samples at 16, 22.05, 24, 32, 44.1 or 48 kHz. */
export async function openMp3(sampleRate: number): Promise<AudioEncoder> {
  // Bit rate; quality of a variable bit rate, negative for a constant one; sample rate of the file.
  const words = new DataView(new ArrayBuffer(12));
  words.setInt32(0, MP3_KILOBITS_PER_SECOND, true);
  words.setFloat32(4, -1, true);
  words.setInt32(8, sampleRate, true);
  return new WasmEncoder(await loadWasmCodec('mp3'), sampleRate, words.buffer);
}

export const OGG_SAMPLE_RATE = 44_100;

// From -1 to 10; 3 gives about 50 kbit/s for speech.
const VORBIS_QUALITY = 3;

// Constant, because the output must be deterministic.
const SERIAL_NUMBER = 1;

/** Opens an Ogg Vorbis encoder with a variable bit rate, for mono samples at 44.1 kHz. */
export async function openOgg(): Promise<AudioEncoder> {
  const words = new DataView(new ArrayBuffer(8));
  words.setFloat32(0, VORBIS_QUALITY, true);
  words.setInt32(4, SERIAL_NUMBER, true);
  return new WasmEncoder(await loadWasmCodec('ogg'), OGG_SAMPLE_RATE, words.buffer);
}
