import type { Format } from './formats.ts';
import { JpegReader } from './jpeg-reader.ts';
import { Mp3Reader } from './mp3-reader.ts';
import { Mp4Reader } from './mp4-reader.ts';
import { OggReader } from './ogg-reader.ts';
import type { PcmLayout } from './pcm-reader.ts';
import { PcmReader } from './pcm-reader.ts';
import { PngReader } from './png-reader.ts';
import { SignatureReader } from './signature-reader.ts';
import { sniff } from './sniff.ts';
import type { JudgingReader, Verdict } from './verdict.ts';
import { Walker } from './walker.ts';
import { WavReader } from './wav-reader.ts';
import { WebpReader } from './webp-reader.ts';

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
