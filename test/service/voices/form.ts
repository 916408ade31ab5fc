import { writeWav } from '../../harness/wav.ts';
import type { ReferenceVoice } from '../../harness/reference-voice.ts';
import { referenceVoice } from '../../harness/reference-voice.ts';

/** A file of a form. */
export interface FormFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A recording of a synthetic voice. */
export function recording(voice: ReferenceVoice): FormFile {
  const { samples, sampleRate } = referenceVoice(voice);
  return { name: 'reference.wav', bytes: writeWav(samples, sampleRate) };
}

/** A request that uploads files as a voice. */
export function upload(
  fields: Readonly<Record<string, string>>,
  files: readonly FormFile[],
): RequestInit {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  for (const { name, bytes } of files) form.append('audioFiles', new Blob([bytes.slice()]), name);
  return { method: 'POST', body: form };
}
