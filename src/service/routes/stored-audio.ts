import type { StoredAudio } from '../audio-files/stored-audio.ts';
import type { EncodedFormat } from '../synthesis/encode.ts';
import { speechMediaType } from '../synthesis/media-type.ts';

export interface StoredAudioOptions {
  readonly format: EncodedFormat;
  /** Name for whoever saves it, without its extension. */
  readonly name: string;
  /** Whether it is to be saved rather than played. */
  readonly isAttachment: boolean;
}

/** An answer of audio that is there as a whole, read while it is sent. */
export function storedAudioAnswer(
  audio: StoredAudio,
  { format, name, isAttachment }: StoredAudioOptions,
): Response {
  const contentType = speechMediaType(format);
  return storedFileAnswer(audio, { contentType, name: `${name}.${format}`, isAttachment });
}

/** An answer of any file that is there as a whole, read while it is sent. */
export function storedFileAnswer(
  file: StoredAudio,
  {
    contentType,
    isAttachment,
    name,
  }: Pick<StoredAudioOptions, 'name' | 'isAttachment'> & { readonly contentType: string },
): Response {
  const kind = isAttachment ? 'attachment' : 'inline';
  return new Response(bodyOf(file), {
    headers: {
      'Content-Type': contentType,
      'Content-Length': String(file.size),
      'Content-Disposition': `${kind}; filename="${name}"`,
    },
  });
}

/** Opens the file with the first piece that is asked for: an answer to HEAD never asks. */
function bodyOf(audio: StoredAudio): ReadableStream<Uint8Array> {
  const pieces = audio.read();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await pieces.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
