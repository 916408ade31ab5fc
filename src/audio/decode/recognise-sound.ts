import { SNIFF_BYTES_MAX, sniff } from '../sniff.ts';
import type { Verdict } from '../verdict.ts';
import { createVerifier } from '../verify.ts';
import { fileHead, filePieces } from './file-pieces.ts';
import type { OpenFile } from './file-pieces.ts';
import { readFlacLength } from './flac-length.ts';
import { createFlacDecoder, createMp3Decoder } from './packed-decoders.ts';
import { createOpusDecoder, createVorbisDecoder } from './packed-decoders.ts';
import { SoundProblem } from './sound-problem.ts';
import type { SoundDecoder } from './sound-decoder.ts';
import { createWavDecoder, findWavSamples } from './wav-decoder.ts';

/** A file of sound that can be decoded, as far as its bytes tell without decoding it. */
export interface RecognisedSound {
  readonly format: 'flac' | 'mp3' | 'ogg' | 'wav';
  /** What is inside of a container. */
  readonly codec?: string | undefined;
  /** Some decoders make two channels of one. */
  readonly channels?: number | undefined;
  /** Where its bytes for the decoder are; the end is that of the file unless it says otherwise. */
  readonly start: number;
  readonly end: number;
  /** How long it says that it is, where it does. */
  readonly seconds: number | undefined;
  open(): Promise<SoundDecoder>;
}

const PIECE_BYTES = 64 * 1024;
/** As many as FLAC has; a few bytes may claim 65,535, and each takes memory. */
const MOST_CHANNELS = 8;
const DECODED = 'wav, mp3, flac, ogg and opus are';

/**
 * Finds out what a file is by what is in it, whatever its name, and whether it is whole.
 * @throws SoundProblem when it is no sound, cut, or of a kind that is not decoded here
 */
export function recogniseSound(file: OpenFile): RecognisedSound {
  const found = sniff(fileHead(file, SNIFF_BYTES_MAX));
  const format = found.kind === 'known' ? found.format : undefined;
  switch (format) {
    case 'wav':
      return recogniseWav(file);
    case 'mp3':
      return { format, ...whole(file, requireWhole(file, 'mp3')), open: createMp3Decoder };
    case 'ogg':
      return recogniseOgg(file);
    case 'flac':
      return { format, ...flacSpan(file), open: createFlacDecoder };
    case 'aac':
    case 'aiff':
    case 'm4a':
    case 'mp4':
    case 'webm': {
      throw new SoundProblem(`holds ${format}, which is not decoded here; ${DECODED}`);
    }
    case 'gif':
    case 'gzip':
    case 'html':
    case 'jpeg':
    case 'json':
    case 'png':
    case 'webp':
    case undefined: {
      const what = format === undefined ? 'holds no sound' : `holds ${format}, which is no sound`;
      throw new SoundProblem(`${what}; ${DECODED} decoded here`);
    }
  }
}

function recogniseWav(file: OpenFile): RecognisedSound {
  const verdict = requireWhole(file, 'wav');
  const samples = findWavSamples(fileHead(file, WAV_HEAD_BYTES));
  if (samples === undefined) {
    const kinds = 'whole numbers of 8 to 32 bits, and floating point ones';
    throw new SoundProblem(`holds wav of a kind that is not decoded here; ${kinds} are`);
  }
  const end = Math.min(samples.end, file.size);
  return {
    format: 'wav',
    start: samples.start,
    end,
    seconds: seconds(verdict),
    open: async () => createWavDecoder(samples),
  };
}

/** Longer lists of what a recording is about are not read. */
const WAV_HEAD_BYTES = 1024 * 1024;

function recogniseOgg(file: OpenFile): RecognisedSound {
  const verdict = requireWhole(file, 'ogg');
  const open = OGG_DECODERS.get(verdict.codec ?? '');
  if (open !== undefined) {
    return { format: 'ogg', codec: verdict.codec, ...whole(file, verdict), open };
  }
  const message = `is ogg without Vorbis, Opus or FLAC in it; ${DECODED} decoded here`;
  throw new SoundProblem(message);
}

const OGG_DECODERS = new Map([
  ['vorbis', createVorbisDecoder],
  ['opus', createOpusDecoder],
  ['flac', createFlacDecoder],
]);

/** @throws SoundProblem when something of it is missing */
function requireWhole(file: OpenFile, format: 'wav' | 'mp3' | 'ogg'): Verdict {
  const verifier = createVerifier(format);
  for (const piece of filePieces(file, PIECE_BYTES)) verifier.write(piece);
  const verdict = verifier.end();
  const { channels = 1, problem } = verdict;
  if (problem !== undefined) throw new SoundProblem(problem);
  if (channels > MOST_CHANNELS) {
    throw new SoundProblem(`has ${channels} channels; at most ${MOST_CHANNELS} are decoded`);
  }
  return verdict;
}

type Span = Pick<RecognisedSound, 'channels' | 'end' | 'seconds' | 'start'>;

function flacSpan(file: OpenFile): Span {
  return { start: 0, end: file.size, seconds: readFlacLength(file) };
}

function whole({ size }: OpenFile, verdict: Verdict): Span {
  return { start: 0, end: size, seconds: seconds(verdict), channels: verdict.channels };
}

function seconds({ durationMs }: Verdict): number | undefined {
  return durationMs === undefined ? undefined : durationMs / 1_000;
}
