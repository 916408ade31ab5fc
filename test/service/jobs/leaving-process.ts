import { writeFile } from 'node:fs/promises';
import { VOICES } from '../../../src/service/voices/catalogue-voice.ts';

const JOBS = '/api/open/v3/speech/tts/jobs';

/**
 * `leave DIR TEXT`: opens the service, has a job accepted, and closes it at once; prints the job's id.
 * `fetch DIR ID FILE`: opens it again and writes the job's audio into a file; prints its status.
 */
async function main([task, dataDir = '', ...rest]: readonly string[]): Promise<void> {
  const { openService } = await import('../../../src/service/index.ts');
  const told: string[] = [];
  const service = await openService({ dataDir, report: ({ type }) => told.push(type) });
  const headers = {
    Authorization: `Bearer ${service.apiKey}`,
    'Content-Type': 'application/json',
  };
  if (task === 'leave') {
    const body = JSON.stringify({ text: rest[0], voiceId: VOICES[0]?.id });
    const created = await fetch(service.baseUrl + JOBS, { method: 'POST', headers, body });
    const { taskId, status } = Object(await created.json()).task;
    await service.close();
    process.stdout.write(JSON.stringify({ taskId, status, told }));
    return;
  }
  const [id = '', file = ''] = rest;
  const { status, creditsUsed } = Object(
    await (await fetch(`${service.baseUrl}${JOBS}/${id}`, { headers })).json(),
  ).task;
  const audio = await fetch(`${service.baseUrl}/api/open/tts/jobs/${id}/audio`, { headers });
  await writeFile(file, new Uint8Array(await audio.arrayBuffer()));
  await service.close();
  process.stdout.write(
    JSON.stringify({ status, creditsUsed, isRedirected: audio.redirected, told }),
  );
}

void main(process.argv.slice(2));
