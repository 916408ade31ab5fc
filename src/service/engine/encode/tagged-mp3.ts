import { createVerifier } from '../../../audio/verify.ts';
import type { AudioEncoder } from './audio-encoder.ts';
import { crc16 } from './crc16.ts';
import { INFO_FRAME_LENGTH, mp3InfoFrame, SAMPLES_PER_FRAME } from './mp3-info-frame.ts';

/**
 * An mp3 that begins with room for an Info tag; `head` gives the tag once everything is encoded.
 * @param sampleRate of the samples, which is that of the file
 */
export function tagMp3(encoder: AudioEncoder, sampleRate: number): AudioEncoder {
  const verifier = createVerifier('mp3');
  let header: Uint8Array | undefined;
  let samples = 0;
  let checksum = 0;
  const note = (sound: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> => {
    if (sound.length === 0) return sound;
    verifier.write(sound);
    checksum = crc16(sound, checksum);
    if (header !== undefined) return sound;
    header = sound.slice(0, 4);
    return Buffer.concat([new Uint8Array(INFO_FRAME_LENGTH), sound]);
  };
  return {
    encode(part) {
      samples += part.length;
      return note(encoder.encode(part));
    },
    finish: () => note(encoder.finish()),
    head() {
      const { bytes, durationMs = 0, problem } = verifier.end();
      if (header === undefined || problem !== undefined) {
        throw new Error(`The mp3 encoder gave what ${problem ?? 'is empty'}.`);
      }
      const frames = Math.round((durationMs * sampleRate) / 1_000 / SAMPLES_PER_FRAME);
      return mp3InfoFrame({ header, frames, bytes, samples, checksum });
    },
  };
}
