import { systemClock } from '../../../src/system/clock.ts';
import { systemFiles } from '../../../src/system/file-system.ts';
import { system } from '../../../src/system/system.ts';
import type { Output } from '../../../src/durable/output.ts';
import type { AudioFolder } from '../../../src/service/speech/audio-files.ts';
import { createAudioFolder } from '../../../src/service/speech/audio-files.ts';
import type { Store } from '../../../src/service/store/open-store.ts';
import { openStore } from '../../../src/service/store/open-store.ts';
import { newService } from '../support/new-service.ts';
import { mortalBody } from './mortal-jobs.ts';

const JOBS = 'http://127.0.0.1/api/open/v3/speech/tts/jobs';
const POLL_MS = 5;

/**
 * `DIR JOBS LIFE`: creates so many jobs, each under a key of its own, works until all have ended, and
 * prints `done`. It is killed just before or just after one of its effects: the one of number LIFE.
 */
async function main([dataDir = '', jobs = '0', life = '0']: readonly string[]): Promise<void> {
  let left = Number(life);
  const tick = (): void => {
    left -= 1;
    if (left === 0) process.kill(process.pid, 'SIGKILL');
  };
  const store = mortalStore(
    await openStore({ dataDir, clock: systemClock, files: systemFiles }),
    tick,
  );
  const audio = mortalFolder(createAudioFolder(store.path, system), tick);
  const service = newService({ store, audio });
  const ask = async (path: string, init: RequestInit = {}): Promise<Record<string, string>> => {
    const request = new Request(JOBS + path, init);
    request.headers.set('Authorization', 'Bearer key');
    const response = await service.fetch(request);
    return Object(await response.json()).task;
  };
  for (let number = 0; number < Number(jobs); number += 1) {
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': `job-${number}` };
    const body = JSON.stringify(mortalBody(number));
    const { taskId } = await ask('', { method: 'POST', headers, body });
    while (['pending', 'processing'].includes((await ask(`/${taskId}`))['status'] ?? '')) {
      await systemClock.sleep(POLL_MS);
    }
  }
  await service.close();
  store.close();
  process.stdout.write('done');
}

function mortalStore(store: Store, tick: () => void): Store {
  return {
    ...store,
    write(work) {
      tick();
      const result = store.write(work);
      tick();
      return result;
    },
  };
}

function mortalFolder(folder: AudioFolder, tick: () => void): AudioFolder {
  return {
    ...folder,
    create: async (owner, name) => mortalOutput(await folder.create(owner, name), tick),
    async remove(owner, name) {
      tick();
      await folder.remove(owner, name);
      tick();
    },
  };
}

function mortalOutput(output: Output, tick: () => void): Output {
  const publish = output.publish.bind(output);
  return Object.assign(output, {
    async publish() {
      tick();
      const published = await publish();
      tick();
      return published;
    },
  });
}

void main(process.argv.slice(2));
