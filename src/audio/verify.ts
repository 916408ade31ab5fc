import type { Format } from './formats.ts';
import { Mp3Reader } from './mp3.ts';
import { OggReader } from './ogg.ts';
import type { Findings, AudioVerdict } from './reader.ts';
import { SKIP_TO_END, VerifyingReader, Walker } from './reader.ts';
import { sniff } from './sniff.ts';
import { JpegReader, Mp4Reader, PngReader, WebpReader } from './visual-media.ts';
import type { PcmLayout } from './wav.ts';
import { PcmReader, WavReader } from './wav.ts';

/** Verifies a file while it is streamed. Buffers only a few bytes. */
export interface Verifier {
  /** Verifies the next bytes of the file. The caller may then reuse `chunk`. */
  write(chunk: Uint8Array): void;
  /**
   * Why the file is invalid, as the end of a sentence (for example, "is not a PNG"). Undefined if no problem was found
   * so far.
   */
  readonly problem: string | undefined;
  /** Returns the result of the verification. Called after the last byte of the file. */
  end(): AudioVerdict;
}

export interface VerifierOptions {
  /** The layout of raw samples; used only for the format `pcm`. */
  readonly pcm?: PcmLayout | undefined;
}

/**
 * Creates a verifier for a file. For some formats, the verifier checks only the first bytes. For `ogg`, any codec is
 * valid.
 */
export function createVerifier(format: Format, options: VerifierOptions = {}): Verifier {
  const reader = READERS[format](options);
  const walker = new Walker(reader);
  const buffer = new Uint8Array(HEAD_BYTES);
  let headLength = 0;

  function refine(problem: string | undefined): string | undefined {
    const head = buffer.subarray(0, headLength);
    const isForeign = problem !== undefined && !reader.begun && headLength > 0;
    return (isForeign ? describeForeign(format, head) : problem) ?? problemOfPcm(format, head);
  }

  return {
    write(chunk) {
      if (headLength < HEAD_BYTES) {
        const part = chunk.subarray(0, HEAD_BYTES - headLength);
        buffer.set(part, headLength);
        headLength += part.length;
      }
      walker.write(chunk);
    },
    get problem() {
      return refine(reader.problem);
    },
    end() {
      const findings = reader.finish(walker);
      const atEnd = walker.bytes === 0 ? 'is empty' : findings.problem;
      const problem = refine(reader.problem ?? atEnd);
      return {
        format,
        bytes: walker.bytes,
        durationMs: findings.durationMs,
        sampleRate: findings.sampleRate,
        channels: findings.channels,
        codec: findings.codec,
        complete: problem === undefined,
        endIsProven: findings.endIsProven,
        corrections: problem === undefined ? (findings.corrections ?? []) : [],
        problem,
      };
    },
  };
}

const HEAD_BYTES = 64;
const SHOWN_BYTES = 16;

const READERS: Readonly<Record<Format, (options: VerifierOptions) => VerifyingReader>> = {
  mp3: () => new Mp3Reader(),
  wav: () => new WavReader(),
  ogg: () => new OggReader(),
  opus: () => new OggReader('opus'),
  pcm: ({ pcm }) => new PcmReader(pcm),
  flac: () => new SignatureReader('flac'),
  aac: () => new SignatureReader('aac'),
  m4a: () => new SignatureReader('m4a'),
  m4b: () => new SignatureReader('m4a'),
  webm: () => new SignatureReader('webm'),
  mp4: () => new Mp4Reader(),
  png: () => new PngReader(),
  jpeg: () => new JpegReader(),
  webp: () => new WebpReader(),
};

function describeForeign(format: Format, head: Uint8Array): string {
  const sniffed = sniff(head);
  const container = format === 'opus' ? 'ogg' : format;
  const isBeginning = sniffed.kind === 'known' && sniffed.format === container;
  if (isBeginning || sniffed.kind === 'more') return 'is cut: only its first bytes arrived';
  const what =
    sniffed.kind === 'known' ? `is ${sniffed.format}, not ${format}` : `is not ${format}`;
  const shown = Array.from(head.subarray(0, SHOWN_BYTES), (byte) =>
    byte.toString(16).padStart(2, '0'),
  );
  return `${what}; it begins with ${shown.join(' ')}`;
}

function problemOfPcm(format: Format, head: Uint8Array): string | undefined {
  if (format !== 'pcm') return undefined;
  const sniffed = sniff(head);
  const isOther = sniffed.kind === 'known' && LONG_SIGNATURES.has(sniffed.format);
  return isOther ? describeForeign(format, head) : undefined;
}

const LONG_SIGNATURES: ReadonlySet<string> = new Set(['wav', 'ogg', 'flac', 'webp', 'aiff']);

class SignatureReader extends VerifyingReader {
  readonly #format: Format;

  constructor(format: Format) {
    super(4);
    this.#format = format;
  }

  step(bytes: Uint8Array, at: number): void {
    const sniffed = sniff(bytes.subarray(at, at + this.want));
    if (sniffed.kind === 'more' && sniffed.bytes > this.want) {
      this.want = sniffed.bytes;
      return;
    }
    this.begun = sniffed.kind === 'known' && sniffed.format === this.#format;
    if (!this.begun) this.problem = `is not ${this.#format}`;
    this.skip = SKIP_TO_END;
  }

  finish(): Findings {
    return { endIsProven: false, problem: this.begun ? undefined : `is not ${this.#format}` };
  }
}

/** Summarizes a verified audio file, such as `mp3, 3.2 s, 44.1 kHz, mono`. */
export function describeSound(verdict: AudioVerdict): string {
  const { format, codec, durationMs, sampleRate, channels } = verdict;
  const layouts = new Map([
    [1, 'mono'],
    [2, 'stereo'],
  ]);
  const parts: (string | undefined)[] = [
    codec === undefined || codec === format ? format : `${format} (${codec})`,
    durationMs === undefined ? undefined : describeDuration(durationMs),
    sampleRate === undefined ? undefined : `${sampleRate / 1000} kHz`,
    channels === undefined ? undefined : (layouts.get(channels) ?? `${channels} channels`),
  ];
  return parts.filter((part) => part !== undefined).join(', ');
}

/** Formats a duration in milliseconds, such as `0.4 s`, `12.3 s`, `1:02.5` or `1:00:02`. */
export function describeDuration(durationMs: number): string {
  const tenths = Math.round(durationMs / 100);
  if (tenths < 600) return `${(tenths / 10).toFixed(1)} s`;
  const seconds = Math.floor(tenths / 10);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${pad(seconds % 60)}.${tenths % 10}`;
  return `${Math.floor(minutes / 60)}:${pad(minutes % 60)}:${pad(seconds % 60)}`;
}

function pad(value: number): string {
  return String(value).padStart(2, '0');
}
