import type { AudioFormat } from '../../contract/values.ts';
import type { Correction } from '../reader.ts';
import { Walker } from '../reader.ts';
import { ByteSink } from './joined-parts.ts';
import { Mp3Parts } from './mp3.ts';
import { OggParts } from './ogg.ts';
import { WavParts } from './wav.ts';

/**
 * Joins several files into one while their bytes arrive; buffers at most a frame or a page. Nothing is decoded:
 * no sample is changed, lost or added.
 */
export interface AudioJoiner {
  /**
   * Takes the next bytes of the part, cut anywhere, which the caller may reuse; returns bytes to write.
   * @throws Failure (bad_answer) when the part does not fit those before it; (output) when the file
   *   grows larger than its format can count
   */
  write(chunk: Uint8Array): Uint8Array;
  /** Ends the part; another may follow. Returns bytes to write. */
  endPart(): Uint8Array;
  /** Returns where each part begins in the decoded file, in milliseconds; empty for raw samples. */
  starts(): readonly number[];
  /** Returns, after the last part, what to overwrite in the bytes before. */
  corrections(): readonly Correction[];
}

/**
 * Creates a joiner of whole files of one format:
 * - wav and pcm: exact to the sample; a seekable wav has its true lengths.
 * - ogg: chains the streams (RFC 3533, section 4), since only so a Vorbis stream keeps its first and last samples;
 *   the time continues. Exact to the sample.
 * - mp3: the frames of all parts, without their tags; a seekable file gets one Info tag, with the delay of the
 *   first part and the padding of the last.
 * @param options `isSeekable`: whether corrections can be written, as in a file but not in a stream
 */
export function createJoiner(
  format: AudioFormat,
  { isSeekable }: { readonly isSeekable: boolean },
): AudioJoiner {
  if (format === 'pcm') {
    return {
      write: (chunk) => chunk.slice(),
      endPart: () => new Uint8Array(0),
      starts: () => [],
      corrections: () => [],
    };
  }
  const sink = new ByteSink();
  const parts = {
    wav: () => new WavParts(sink, isSeekable),
    mp3: () => new Mp3Parts(sink, isSeekable),
    ogg: () => new OggParts(sink),
  }[format]();
  let walker = new Walker(parts.newReader());
  return {
    write(chunk) {
      walker.write(chunk);
      return sink.take();
    },
    endPart() {
      parts.endPart(walker);
      walker = new Walker(parts.newReader());
      return sink.take();
    },
    starts: () => parts.starts(),
    corrections: () => parts.corrections(),
  };
}
