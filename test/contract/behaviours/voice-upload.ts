import { referenceVoice } from '../../harness/reference-voice.ts';
import type { FormPart } from '../../harness/multipart-body.ts';
import { multipartBody } from '../../harness/multipart-body.ts';
import { writeWav } from '../../harness/wav.ts';
import { claimStatus } from '../claims.ts';
import type { Answer, ServiceUnderTest } from '../service-under-test.ts';

export const CREATE = 'POST /api/open/v1/voices';
export const CREATE_V3 = 'POST /api/open/v3/voices';
export const CREATE_OLD = 'POST /api/open/create-model';
export const DELETE = 'DELETE /api/open/v1/voices';

/** A recording of a second, or of another length. */
export function recording(medianHz = 140, seconds = 1): Uint8Array {
  const { samples, sampleRate } = referenceVoice({ medianHz, seconds });
  return writeWav(samples, sampleRate);
}

/** The form that is good: a name and a file. */
export const GOOD: readonly FormPart[] = [
  { name: 'name', value: 'Conformance' },
  { name: 'audioFiles', fileName: 'reference.wav', value: recording() },
];

/** The good form with other values; `undefined` leaves a field out. */
export function formWith(
  fields: Readonly<Record<string, string | undefined>>,
): readonly FormPart[] {
  const others = GOOD.filter(({ name }) => !Object.hasOwn(fields, name));
  const given = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name, value }],
  );
  return [...given, ...others];
}

export function send(
  service: ServiceUnderTest,
  parts: readonly FormPart[],
  on: string = CREATE,
): Promise<Answer> {
  return service.ask(on, multipartBody(parts));
}

/** A voice that is made, looked at and deleted again, so that none is left of it. */
export async function withVoice(
  service: ServiceUnderTest,
  parts: readonly FormPart[],
  look: (voice: Readonly<Record<string, unknown>>) => Promise<void> | void,
  on: string = CREATE,
): Promise<void> {
  const answer = await send(service, parts, on);
  claimStatus(answer, 200);
  const voice: Record<string, unknown> = Object(answer.json());
  try {
    await look(voice);
  } finally {
    claimStatus(await service.ask(`${DELETE}/${String(voice['voiceId'])}`), 200);
  }
}
