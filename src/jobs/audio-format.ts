import type { AudioAnswer } from '../api/audio-answer.ts';
import { formatOfMediaType } from '../audio/formats.ts';
import { SNIFF_BYTES_MAX, sniff } from '../audio/sniff.ts';
import type { AudioFormat } from '../contract/audio-formats.ts';
import { AUDIO_FORMATS } from '../contract/audio-formats.ts';
import { Failure } from '../errors/failure.ts';
import type { MadeFile } from './job-source.ts';

/**
 * What audio is, by what was told of it, by its media type, or else by its first bytes.
 * @throws Failure (bad_answer) for what no speech comes as
 */
export async function withFormat(
  audio: AudioAnswer,
  told: AudioFormat | undefined,
): Promise<MadeFile<AudioAnswer> & { readonly format: AudioFormat }> {
  const named = told ?? audioFormat(formatOfMediaType(audio.contentType));
  if (named !== undefined) return { file: audio, format: named };
  const { body, format } = await peek(audio.body);
  if (format !== undefined) return { file: { ...audio, body }, format };
  audio.discard();
  throw new Failure(`the audio is ${audio.contentType}, which speech does not come as`, {
    code: 'bad_answer',
    exit: 'badAnswer',
    hint: 'If it happens again, ask the service, with the request id.',
    requestId: audio.requestId,
    billed: 'yes',
  });
}

function audioFormat(format: string | undefined): AudioFormat | undefined {
  return AUDIO_FORMATS.find((known) => known === format);
}

/** A body from whose first bytes it was found out what it is, and the whole body again. */
async function peek(body: AsyncIterable<Uint8Array>): Promise<{
  readonly format: AudioFormat | undefined;
  readonly body: AsyncIterable<Uint8Array>;
}> {
  const rest = body[Symbol.asyncIterator]();
  let leading = new Uint8Array();
  let found = sniff(leading);
  while (found.kind === 'more' && leading.length < SNIFF_BYTES_MAX) {
    const next = await rest.next();
    if (next.done === true) break;
    leading = new Uint8Array(Buffer.concat([leading, next.value]));
    found = sniff(leading);
  }
  return {
    format: found.kind === 'known' ? audioFormat(found.format) : undefined,
    body: {
      async *[Symbol.asyncIterator]() {
        if (leading.length > 0) yield leading;
        yield* { [Symbol.asyncIterator]: () => rest };
      },
    },
  };
}
