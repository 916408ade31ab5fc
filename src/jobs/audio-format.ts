import type { AudioAnswer } from '../api/audio-answer.ts';
import { formatOfMediaType } from '../audio/formats.ts';
import type { AudioFormat } from '../contract/audio-formats.ts';
import { AUDIO_FORMATS } from '../contract/audio-formats.ts';
import { Failure } from '../errors/failure.ts';
import type { MadeFile } from './job-source.ts';
import { sniffBody } from './sniff-body.ts';

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
  const { body, sniffed } = await sniffBody(audio.body);
  const format = audioFormat(sniffed);
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
