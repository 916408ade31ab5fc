import { claimStatus } from '../claims.ts';
import { finishedJob, plainBody } from '../facts.ts';
import type { Answer, ServiceUnderTest } from '../service-under-test.ts';

export const V3 = '/api/open/v3/speech/tts/jobs';
export const V1 = '/api/open/v1/speech/tts/jobs';
export const STATUSES = ['pending', 'processing', 'success', 'partial_fail', 'fail'];

export const idOf = (path: string) => (path === V3 ? 'jobs-v3' : 'jobs-v1');
export const sectionOf = (path: string) => (path === V3 ? 'jobs#v3' : 'jobs#v1');

export async function create(
  service: ServiceUnderTest,
  path: string,
  more: object = {},
): Promise<Answer> {
  const answer = await service.ask(`POST ${path}`, {
    body: { ...(await plainBody(service)), ...more },
  });
  claimStatus(answer, 202);
  return answer;
}

export async function created(service: ServiceUnderTest, path: string): Promise<unknown> {
  return (await create(service, path)).json();
}

export async function polled(service: ServiceUnderTest, path: string): Promise<unknown> {
  const answer = await service.ask(`GET ${path}/${await finishedJob(service)}`);
  claimStatus(answer, 200);
  return answer.json();
}

export async function list(
  service: ServiceUnderTest,
  path: string,
  query: Readonly<Record<string, string | number>> = {},
): Promise<unknown> {
  await finishedJob(service);
  const answer = await service.ask(`GET ${path}`, { query });
  claimStatus(answer, 200);
  return answer.json();
}
