import { at, claimStatus } from '../claims.ts';
import { freshKey } from '../facts.ts';
import type { Answer, ServiceUnderTest } from '../service-under-test.ts';

export const DESIGNS = 'POST /api/open/v1/voice-designs';
export const SAVE = `${DESIGNS}/{designId}/voices`;
export const DESIGN = { prompt: 'An old woman with a calm, low voice', previewText: 'Hi.' };

/** Asks for a design under a key. */
export async function design(
  service: ServiceUnderTest,
  key: string,
  body: unknown = DESIGN,
): Promise<Answer> {
  return service.ask(DESIGNS, { body, headers: { 'Idempotency-Key': key } });
}

/** A design that is made once. */
export async function oneDesign(service: ServiceUnderTest): Promise<unknown> {
  return service.once('a voice design', async () => {
    const answer = await design(service, freshKey());
    claimStatus(answer, 200);
    return answer.json();
  });
}

/** The ids of one of its candidates. */
export async function oneCandidate(service: ServiceUnderTest) {
  const made = await oneDesign(service);
  const designId = String(at(made, 'designId'));
  return { designId, candidateId: String(at(made, 'candidates.0.candidateId')) };
}

/** A candidate that is saved, and deleted again. */
export async function saved(service: ServiceUnderTest): Promise<unknown> {
  const { designId, candidateId } = await oneCandidate(service);
  const answer = await service.ask(SAVE.replace('{designId}', designId), {
    body: { candidateId, name: 'Conformance' },
    headers: { 'Idempotency-Key': freshKey() },
  });
  claimStatus(answer, 200);
  await remove(service, answer);
  return answer.json();
}

/** Deletes a voice that was made. */
export async function remove(service: ServiceUnderTest, made: Answer): Promise<void> {
  const voiceId = String(at(made.json(), 'voiceId'));
  claimStatus(await service.ask(`DELETE /api/open/v1/voices/${voiceId}`), 200);
}
