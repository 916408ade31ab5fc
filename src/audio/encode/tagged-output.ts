import { errnoOf, outputFailure } from '../../durable/file-failures.ts';
import type { Output, Published } from '../../durable/output.ts';
import type { FileSystem } from '../../system/file-system.ts';
import { id3TagLength } from '../mp3.ts';
import { OGG_HEAD_BYTES } from '../ogg.ts';
import { FinishedOutput } from './finished-output.ts';
import { OggFileHead } from './ogg-head.ts';
import type { Marks } from './tags.ts';
import { id3Tag } from './tags.ts';

interface TaggedOutputOptions {
  readonly files: FileSystem;
  readonly format: 'mp3' | 'ogg';
  readonly marks: Marks;
}

/** An output for an mp3 or Ogg file, which gets its tags when it is complete. The sound is not encoded again. */
export class TaggedOutput extends FinishedOutput {
  readonly #options: TaggedOutputOptions;

  constructor(made: Output, finished: Output, options: TaggedOutputOptions) {
    super(made, finished);
    this.#options = options;
  }

  async publish(): Promise<Published> {
    await this.checksum();
    const { files, format, marks } = this.#options;
    const tagged = format === 'mp3' ? withId3 : withComments;
    try {
      const handle = await files.open(this.temporary ?? '', 'r');
      const bytes = handle.createReadStream({ highWaterMark: CHUNK_BYTES });
      try {
        for await (const piece of tagged(bytes, marks)) await this.finished.write(piece);
      } finally {
        bytes.destroy();
      }
    } catch (error) {
      // The file that the service made cannot be read, for example because its folder was removed.
      if (errnoOf(error) !== undefined) throw outputFailure(this.path, error, 'writing');
      throw error;
    }
    const checksum = await this.finished.checksum();
    return { ...(await this.finished.publish()), encoded: { format, checksum } };
  }
}

const CHUNK_BYTES = 1 << 18;
const ID3_HEAD_BYTES = 10;

// Replaces the ID3 tag, if the file begins with one.
async function* withId3(
  bytes: AsyncIterable<Uint8Array>,
  marks: Marks,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield await id3Tag(marks);
  let head: Uint8Array | undefined = new Uint8Array(0);
  let skip = 0;
  for await (const chunk of bytes) {
    let rest = chunk;
    if (head !== undefined) {
      rest = head = Buffer.concat([head, chunk]);
      if (head.length < ID3_HEAD_BYTES) continue;
      const isTag = Buffer.from(head.subarray(0, 3)).toString('latin1') === 'ID3';
      skip = isTag ? (id3TagLength(head, 0) ?? 0) : 0;
      head = undefined;
    }
    const skipped = Math.min(skip, rest.length);
    skip -= skipped;
    if (skipped < rest.length) yield rest.subarray(skipped);
  }
  if (head !== undefined) yield head;
}

// Leaves a file unchanged that is neither Vorbis nor Opus.
async function* withComments(
  bytes: AsyncIterable<Uint8Array>,
  marks: Marks,
): AsyncGenerator<Uint8Array, void, undefined> {
  let first: Uint8Array = new Uint8Array(0);
  let pass: ((chunk: Uint8Array) => readonly Uint8Array[]) | undefined;
  for await (const chunk of bytes) {
    if (pass !== undefined) {
      yield* pass(chunk);
      continue;
    }
    first = Buffer.concat([first, chunk]);
    if (first.length < CODEC_BYTES) continue;
    const format = codecOf(first);
    const head = format === undefined ? undefined : new OggFileHead(format, marks);
    pass = head === undefined ? (one) => [one] : (one) => head.pass(one);
    yield* pass(first);
  }
  if (pass === undefined) yield first;
}

// The first page of an Ogg file has one packet, which begins with the name of the codec.
const CODEC_BYTES = OGG_HEAD_BYTES + 1 + 8;

function codecOf(page: Uint8Array): 'ogg' | 'opus' | undefined {
  const packet = Buffer.from(page.subarray(OGG_HEAD_BYTES + 1, CODEC_BYTES)).toString('latin1');
  if (packet === 'OpusHead') return 'opus';
  return packet.startsWith('\u0001vorbis') ? 'ogg' : undefined;
}
