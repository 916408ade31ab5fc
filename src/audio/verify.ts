import type { Format } from './formats.ts';
import { JpegReader, PngReader, WebpReader } from './images.ts';
import { Mp3Reader } from './mp3.ts';
import { Mp4Reader } from './mp4.ts';
import { OggReader } from './ogg.ts';
import type { JudgingReader, Verdict, Findings } from './reader.ts';
import { Walker, TO_THE_END } from './reader.ts';
import { sniff } from './sniff.ts';
import type { PcmLayout } from './wav.ts';
import { PcmReader, WavReader } from './wav.ts';

/** Judges a file while it streams by; keeps no more of it than a few bytes. */
export interface Verifier {
  /** The next bytes of the file, cut anywhere. They may be reused afterwards. */
  write(chunk: Uint8Array): void;
  /** What is already known to be wrong; what follows cannot mend it. */
  readonly problem: string | undefined;
  /** The verdict, once the last byte has been written. */
  end(): Verdict;
}

export interface VerifierOptions {
  /** How raw samples are laid out, where that is known; for `pcm` only. */
  readonly pcm?: PcmLayout | undefined;
}

/**
 * A verifier for a file that should be of `format`. mp3, wav, ogg, opus, mp4, png, jpeg and webp are
 * walked to their end; pcm can only be counted; of the others just the mark at the beginning is checked. `ogg` is content
 * with any codec inside, `opus` is not.
 */
export function createVerifier(format: Format, options: VerifierOptions = {}): Verifier {
  const reader = READERS[format](options);
  const walker = new Walker(reader);
  const head = new Uint8Array(HEAD_BYTES);
  let headLength = 0;

  function problem(found = reader.problem): string | undefined {
    const isForeign = found !== undefined && !reader.begun && headLength > 0;
    return isForeign ? foreign(format, head.subarray(0, headLength)) : found;
  }

  return {
    write(chunk) {
      if (headLength < HEAD_BYTES) {
        const part = chunk.subarray(0, HEAD_BYTES - headLength);
        head.set(part, headLength);
        headLength += part.length;
      }
      walker.write(chunk);
    },
    get problem() {
      return problem() ?? wrapped(format, head.subarray(0, headLength));
    },
    end() {
      const findings = reader.finish(walker);
      const fault = problem(findings.problem) ?? wrapped(format, head.subarray(0, headLength));
      return {
        format,
        bytes: walker.bytes,
        durationMs: findings.durationMs,
        sampleRate: findings.sampleRate,
        channels: findings.channels,
        codec: findings.codec,
        complete: fault === undefined,
        endIsProven: findings.endIsProven,
        corrections: fault === undefined ? (findings.corrections ?? []) : [],
        problem: fault,
      };
    },
  };
}

/** The verdict on a file that is already whole in memory. */
export function verifyBytes(
  format: Format,
  bytes: Uint8Array,
  options: VerifierOptions = {},
): Verdict {
  const verifier = createVerifier(format, options);
  verifier.write(bytes);
  return verifier.end();
}

const HEAD_BYTES = 64;
const SHOWN_BYTES = 16;

const READERS: Readonly<Record<Format, (options: VerifierOptions) => JudgingReader>> = {
  mp3: () => new Mp3Reader(),
  wav: () => new WavReader(),
  ogg: () => new OggReader(),
  opus: () => new OggReader('opus'),
  pcm: ({ pcm }) => new PcmReader(pcm),
  flac: () => new SignatureReader('flac'),
  aac: () => new SignatureReader('aac'),
  m4a: () => new SignatureReader('m4a'),
  webm: () => new SignatureReader('webm'),
  mp4: () => new Mp4Reader(),
  png: () => new PngReader(),
  jpeg: () => new JpegReader(),
  webp: () => new WebpReader(),
};

/** Says what arrived in the place of `format`: its name where it has one, and its first bytes. */
function foreign(format: Format, head: Uint8Array): string {
  const sniffed = sniff(head);
  const container = format === 'opus' ? 'ogg' : format;
  const isBeginning = sniffed.kind === 'known' && sniffed.format === container;
  if (isBeginning || sniffed.kind === 'more') return 'is cut: only its first bytes are there';
  const what =
    sniffed.kind === 'known' ? `is ${sniffed.format}, not ${format}` : `is not ${format}`;
  const shown = Array.from(head.subarray(0, SHOWN_BYTES), (byte) =>
    byte.toString(16).padStart(2, '0'),
  );
  return `${what}; it begins with ${shown.join(' ')}`;
}

/** Raw samples have no mark, but they do not begin with a whole mark of something else either. */
function wrapped(format: Format, head: Uint8Array): string | undefined {
  if (format !== 'pcm') return undefined;
  const sniffed = sniff(head);
  const isMarked = sniffed.kind === 'known' && STRONGLY_MARKED.has(sniffed.format);
  return isMarked ? foreign(format, head) : undefined;
}

const STRONGLY_MARKED: ReadonlySet<string> = new Set(['wav', 'ogg', 'flac', 'webp', 'aiff']);

/** For formats that foley passes on without reading them: their mark is checked and no more. */
export class SignatureReader implements JudgingReader {
  want = 4;
  skip = 0;
  problem: string | undefined;
  begun = false;

  readonly #format: Format;

  constructor(format: Format) {
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
    this.skip = TO_THE_END;
  }

  finish(walker: Walker): Findings {
    const empty = walker.bytes === 0 ? 'is empty' : undefined;
    const other = this.begun ? undefined : `is not ${this.#format}`;
    return { endIsProven: false, problem: this.problem ?? empty ?? other };
  }
}

/** What a file of sound is, in a few words: `mp3, 3.2 s, 44.1 kHz, mono`. */
export function describeSound(verdict: Verdict): string {
  const { format, codec, durationMs, sampleRate, channels } = verdict;
  const parts: (string | undefined)[] = [
    codec === undefined || codec === format ? format : `${format} (${codec})`,
    durationMs === undefined ? undefined : describeDuration(durationMs),
    sampleRate === undefined ? undefined : `${sampleRate / 1000} kHz`,
    channels === undefined ? undefined : describeChannels(channels),
  ];
  return parts.filter((part) => part !== undefined).join(', ');
}

/** A playing time for people: `0.4 s`, `12.3 s`, `1:02.5`, `1:00:02`. */
export function describeDuration(durationMs: number): string {
  const tenths = Math.round(durationMs / 100);
  if (tenths < 600) return `${(tenths / 10).toFixed(1)} s`;
  const seconds = Math.floor(tenths / 10);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${padded(seconds % 60)}.${tenths % 10}`;
  return `${Math.floor(minutes / 60)}:${padded(minutes % 60)}:${padded(seconds % 60)}`;
}

function describeChannels(channels: number): string {
  if (channels === 1) return 'mono';
  return channels === 2 ? 'stereo' : `${channels} channels`;
}

function padded(value: number): string {
  return String(value).padStart(2, '0');
}
