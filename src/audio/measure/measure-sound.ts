import { filePieces } from '../decode/file-pieces.ts';
import type { OpenFile } from '../decode/file-pieces.ts';
import type { RecognisedSound } from '../decode/recognise-sound.ts';
import { recogniseSound } from '../decode/recognise-sound.ts';
import type { DecodedSound } from '../decode/sound-decoder.ts';
import { SoundProblem } from '../decode/sound-problem.ts';
import { LevelTrack } from './level-track.ts';
import { LoudnessMeter } from './loudness.ts';

/** What was heard in a file. */
export interface MeasuredSound extends Pick<RecognisedSound, 'codec' | 'format'> {
  readonly sampleRate: number;
  readonly channels: number;
  /** In LUFS (ITU-R BS.1770-4); `undefined` where it is silent or shorter than 0.4 s. */
  readonly loudness: number | undefined;
  readonly levels: LevelTrack;
}

/** How long decoding goes on before other things get their turn. */
const TURN_BYTES = 1024 * 1024;

/**
 * Decodes a file of sound from beginning to end and measures it, in bounded memory.
 * @throws SoundProblem when it is no sound, is cut, or is of a kind that is not decoded here
 */
export async function measureSound(file: OpenFile, signal: AbortSignal): Promise<MeasuredSound> {
  const sound = recogniseSound(file);
  const decoder = await sound.open();
  const listener = new Measurement(sound.channels);
  let bytes = 0;
  try {
    const pieces = filePieces({ fd: file.fd, size: sound.end }, decoder.pieceBytes, sound.start);
    for (const piece of pieces) {
      listener.hear(await decoder.decode(piece));
      bytes += piece.length;
      if (bytes < TURN_BYTES) continue;
      bytes = 0;
      await new Promise(setImmediate);
      signal.throwIfAborted();
    }
    listener.hear(await decoder.finish());
  } finally {
    decoder.close();
  }
  const { codec, format } = sound;
  const measured = listener.result();
  requireAll(sound, measured.levels);
  return { format, codec, ...measured };
}

/** Frames of FLAC that are damaged, or not there, are left out without a word. */
function requireAll({ format, seconds }: RecognisedSound, { durationMs }: LevelTrack): void {
  if (format !== 'flac' || seconds === undefined || durationMs > seconds * 1_000 - 1) return;
  const found = `only ${(durationMs / 1_000).toFixed(1)} of ${seconds.toFixed(1)} s can be decoded`;
  throw new SoundProblem(`is damaged or cut: ${found}`);
}

class Measurement {
  #levels: LevelTrack | undefined;
  #meter: LoudnessMeter | undefined;
  readonly #told: number | undefined;
  #channels = 0;
  #sampleRate = 0;

  /** @param told how many channels the file says that it has */
  constructor(told: number | undefined) {
    this.#told = told;
  }

  hear({ channels: decoded, sampleRate }: DecodedSound): void {
    const channels = decoded.slice(0, this.#told);
    if ((channels[0]?.length ?? 0) === 0 || sampleRate === 0) return;
    this.#levels ??= new LevelTrack(sampleRate);
    this.#meter ??= new LoudnessMeter(channels.length, sampleRate);
    if (this.#sampleRate === 0) [this.#channels, this.#sampleRate] = [channels.length, sampleRate];
    if (channels.length !== this.#channels || sampleRate !== this.#sampleRate) {
      throw new SoundProblem('changes its rate or its channels on the way');
    }
    this.#levels.write(channels);
    this.#meter.write(channels);
  }

  result(): Omit<MeasuredSound, 'codec' | 'format'> {
    if (this.#levels === undefined) throw new SoundProblem('holds no sound');
    this.#levels.finish();
    return {
      sampleRate: this.#sampleRate,
      channels: this.#channels,
      loudness: this.#meter?.integrated,
      levels: this.#levels,
    };
  }
}
