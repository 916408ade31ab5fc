import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AudioEncoder } from './pcm.ts';

type CodecName = 'mp3' | 'ogg';

/** Compiled once; concurrent streams have an instance each. */
const loaded = new Map<CodecName, Promise<WasmCodec>>();

/**
 * Loads LAME or libvorbis of `wasm-media-encoders`, without the package's own script: that has both encoders as
 * text, which takes a sixth of the start-up to read.
 */
function loadWasmCodec(name: CodecName): Promise<WasmCodec> {
  const loading = loaded.get(name) ?? compile(name);
  loaded.set(name, loading);
  return loading;
}

async function compile(name: CodecName): Promise<WasmCodec> {
  const file = createRequire(import.meta.url).resolve(`wasm-media-encoders/wasm/${name}`);
  return new WasmCodec(new WebAssembly.Module(await readFile(file)), MOST_IDLE[name]);
}

/**
 * How many instances are kept for the next stream: each has 16 MB of memory, which costs the garbage collector.
 * libvorbis leaks memory with each stream, so its instances are not reused.
 */
const MOST_IDLE = { mp3: 4, ogg: 0 };

/** A compiled codec with its idle instances. */
class WasmCodec {
  readonly #module: WebAssembly.Module;
  readonly #mostIdle: number;
  readonly #idle: Codec[] = [];

  constructor(module: WebAssembly.Module, mostIdle: number) {
    this.#module = module;
    this.#mostIdle = mostIdle;
  }

  take(): Codec {
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    const codec = codecOf(new WebAssembly.Instance(this.#module, IMPORTS));
    codec.initialize();
    return codec;
  }

  giveBack(codec: Codec): void {
    if (this.#idle.length < this.#mostIdle) this.#idle.push(codec);
  }
}

/** Encodes a stream of one channel in an instance of its own. */
class WasmEncoder implements AudioEncoder {
  readonly #owner: WasmCodec;
  readonly #codec: Codec;
  readonly #stream: number;
  /** False during a call and after a failure, when the instance must not be reused. */
  #isReusable = true;

  /**
   * @param parameters of the codec, as the 32-bit words that follow the rate
   * @throws Error when the codec refuses the parameters
   */
  constructor(owner: WasmCodec, sampleRate: number, parameters: ArrayBuffer) {
    this.#owner = owner;
    this.#codec = owner.take();
    const channels = 1;
    const words = new Uint32Array([channels, sampleRate, ...new Uint32Array(parameters)]);
    const pointer = this.#codec.malloc(words.byteLength);
    new Uint32Array(this.#codec.memory.buffer, pointer, words.length).set(words);
    this.#stream = this.#codec.init(pointer);
    this.#codec.free(pointer);
    if (this.#stream === 0) throw new Error(`The encoder refuses a rate of ${sampleRate} Hz.`);
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
    this.#owner.giveBack(this.#codec);
  }

  /** Copies the output, which the next call overwrites. */
  #output(length: number): Uint8Array<ArrayBuffer> {
    if (length < 0) throw new Error(`The encoder failed with ${length}.`);
    const pointer = this.#codec.outputOf(this.#stream);
    const bytes = new Uint8Array(this.#codec.memory.buffer, pointer, length).slice();
    this.#isReusable = true;
    return bytes;
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

/** The exports of the module, by our names. */
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

function codecOf({ exports }: WebAssembly.Instance): Codec {
  const { memory } = exports;
  if (!(memory instanceof WebAssembly.Memory)) throw new TypeError('The encoder has no memory.');
  const functions = Object.entries(FUNCTIONS).map(([ours, name]) => {
    if (!isWasmFunction(exports[name])) throw new TypeError(`The encoder has no ${name}.`);
    return [ours, exports[name]];
  });
  return { memory, ...Object.fromEntries(functions) };
}

function isWasmFunction(exported: unknown): exported is WasmFunction {
  return typeof exported === 'function';
}

/** Every player supports it, and it keeps the padding of the format shortest. */
export const MP3_SAMPLE_RATE = 44_100;

export const MP3_KILOBITS_PER_SECOND = 128;

/** Opens an encoder of mp3 at a constant 128 kbit/s, for samples at 44.1 kHz. */
export async function openMp3(): Promise<AudioEncoder> {
  // Bit rate, quality of a variable rate (negative for a constant one), rate of the file.
  const words = new DataView(new ArrayBuffer(12));
  words.setInt32(0, MP3_KILOBITS_PER_SECOND, true);
  words.setFloat32(4, -1, true);
  words.setInt32(8, MP3_SAMPLE_RATE, true);
  return new WasmEncoder(await loadWasmCodec('mp3'), MP3_SAMPLE_RATE, words.buffer);
}

export const OGG_SAMPLE_RATE = 44_100;

/** From -1 to 10; about 50 kbit/s for speech. */
const QUALITY = 3;

/** Constant, so that equal speech gives equal bytes. */
const SERIAL_NUMBER = 1;

/** Opens an encoder of Ogg Vorbis at a variable rate, for samples at 44.1 kHz. */
export async function openOgg(): Promise<AudioEncoder> {
  const words = new DataView(new ArrayBuffer(8));
  words.setFloat32(0, QUALITY, true);
  words.setInt32(4, SERIAL_NUMBER, true);
  return new WasmEncoder(await loadWasmCodec('ogg'), OGG_SAMPLE_RATE, words.buffer);
}
