import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AudioEncoder } from './pcm.ts';

/**
 * LAME or libvorbis as `wasm-media-encoders` compiles them. Its WebAssembly is called directly: the
 * package's own script holds both encoders as text, which takes a sixth of the start-up to read.
 *
 * @param name the package's name of the file
 */
export function loadWasmCodec(name: CodecName): Promise<WasmCodec> {
  const loading = loaded.get(name) ?? compile(name);
  loaded.set(name, loading);
  return loading;
}

type CodecName = 'mp3' | 'ogg';

/** Compiled once; streams that run at the same time have an instance each. */
const loaded = new Map<CodecName, Promise<WasmCodec>>();

async function compile(name: CodecName): Promise<WasmCodec> {
  const file = createRequire(import.meta.url).resolve(`wasm-media-encoders/wasm/${name}`);
  return new WasmCodec(new WebAssembly.Module(await readFile(file)), MOST_IDLE[name]);
}

/**
 * How many instances wait for the next stream. Each has 16 MB of memory, and many that come and go keep
 * the garbage collector busy. libvorbis does not give back all that a stream took, so its instances
 * go with their stream.
 */
const MOST_IDLE = { mp3: 4, ogg: 0 };

/** A compiled codec and its instances that nobody uses. */
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

/**
 * A stream of one channel, in an instance that no other stream has meanwhile.
 *
 * @param parameters the codec's own, as the 32-bit words that follow the rate
 * @throws Error when the codec refuses the parameters or fails
 */
export class WasmEncoder implements AudioEncoder {
  readonly #owner: WasmCodec;
  readonly #codec: Codec;
  readonly #stream: number;
  /** What failed in the middle of a call may be in any state. */
  #isSound = true;

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
    this.#isSound = false;
    const channels = this.#codec.inputOf(this.#stream, samples.length);
    if (channels === 0) throw new Error('The encoder is out of memory.');
    const { buffer } = this.#codec.memory;
    const [input = 0] = new Uint32Array(buffer, channels, 1);
    new Float32Array(buffer, input, samples.length).set(samples);
    return this.#output(this.#codec.encode(this.#stream, samples.length));
  }

  finish(): Uint8Array<ArrayBuffer> {
    this.#isSound = false;
    return this.#output(this.#codec.flush(this.#stream));
  }

  close(): void {
    if (!this.#isSound) return;
    this.#isSound = false;
    this.#codec.freeStream(this.#stream);
    this.#owner.giveBack(this.#codec);
  }

  /** A copy: the encoder writes over its own buffer at the next call. */
  #output(length: number): Uint8Array<ArrayBuffer> {
    if (length < 0) throw new Error(`The encoder failed with ${length}.`);
    const pointer = this.#codec.outputOf(this.#stream);
    const bytes = new Uint8Array(this.#codec.memory.buffer, pointer, length).slice();
    this.#isSound = true;
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
  readonly freeStream: WasmFunction;
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
    freeStream: named('enc_free'),
  };
}

function isWasmFunction(exported: unknown): exported is WasmFunction {
  return typeof exported === 'function';
}

/** The rate that every player takes, and at which the format's own padding is shortest. */
export const MP3_SAMPLE_RATE = 44_100;

export const MP3_KILOBITS_PER_SECOND = 128;

/** mp3 at a constant 128 kbit/s; samples must come at 44.1 kHz. */
export async function openMp3(): Promise<AudioEncoder> {
  return new WasmEncoder(await loadWasmCodec('mp3'), MP3_SAMPLE_RATE, mp3Parameters());
}

/** Bit rate, quality of a variable rate (negative for a constant one), rate of the file. */
function mp3Parameters(): ArrayBuffer {
  const words = new DataView(new ArrayBuffer(12));
  words.setInt32(0, MP3_KILOBITS_PER_SECOND, true);
  words.setFloat32(4, -1, true);
  words.setInt32(8, MP3_SAMPLE_RATE, true);
  return words.buffer;
}

export const OGG_SAMPLE_RATE = 44_100;

/** -1 to 10; about 50 kbit/s for our speech. */
const QUALITY = 3;

/** Tells apart the streams of one file; ours have one, and equal speech gives equal bytes. */
const SERIAL_NUMBER = 1;

/** Ogg Vorbis at a variable rate; samples must come at 44.1 kHz. */
export async function openOgg(): Promise<AudioEncoder> {
  return new WasmEncoder(await loadWasmCodec('ogg'), OGG_SAMPLE_RATE, oggParameters());
}

/** Quality, serial number. */
function oggParameters(): ArrayBuffer {
  const words = new DataView(new ArrayBuffer(8));
  words.setFloat32(0, QUALITY, true);
  words.setInt32(4, SERIAL_NUMBER, true);
  return words.buffer;
}
