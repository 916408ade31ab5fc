import { systemClock } from '../../../src/system/clock.ts';
import { systemFiles } from '../../../src/system/file-system.ts';
import { VOICES } from '../../../src/service/voices/catalogue-voice.ts';
import { EngineRegistry } from '../../../src/service/engine/speech-engine.ts';
import { openStore } from '../../../src/service/store/open-store.ts';
import { newService } from './new-service.ts';
import { toneEngine } from './tone-engine.ts';

/**
 * One of several processes on a data directory. `pay DIR N`: N requests with keys of its own and one
 * with the key `shared`; prints the status of that one. `hang DIR`: begins a request with the key
 * `hanging`, prints `speaking`, and never ends it.
 */
async function main([task, dataDir = '', count = '0']: readonly string[]): Promise<void> {
  const store = await openStore({ dataDir, clock: systemClock, files: systemFiles });
  const engine = toneEngine();
  const service = newService({ store, engines: new EngineRegistry([engine]) });
  const speak = (key: string): Promise<Response> =>
    service.fetch(
      new Request('http://127.0.0.1/api/open/v3/speech/tts', {
        method: 'POST',
        headers: {
          Authorization: 'Bearer key',
          'Content-Type': 'application/json',
          'Idempotency-Key': key,
        },
        body: JSON.stringify({
          text: 'One. Two.',
          voiceId: VOICES[0]?.id,
          modelId: 'vendor-s21pro',
          format: 'wav',
        }),
      }),
    );
  if (task === 'hang') {
    engine.holdBefore(1);
    await speak('hanging');
    process.stdout.write('speaking');
    setInterval(() => undefined, 60_000);
    return;
  }
  const shared = await speak('shared');
  await shared.arrayBuffer();
  for (let number = 0; number < Number(count); number += 1) {
    const response = await speak(`${process.pid}-${number}`);
    if (response.status !== 200) throw new Error(`status ${response.status}`);
    await response.arrayBuffer();
  }
  await service.close();
  store.close();
  process.stdout.write(String(shared.status));
}

void main(process.argv.slice(2));
