import { systemClock } from '../../../src/system/clock.ts';
import { systemFiles } from '../../../src/system/file-system.ts';
import { systemRandom } from '../../../src/system/random.ts';
import { VOICES } from '../../../src/service/voices/catalogue-voice.ts';
import { createAudioFolder } from '../../../src/service/speech/audio-files.ts';
import { encodeSpeech } from '../../../src/service/engine/encode/encode-speech.ts';
import { EngineRegistry } from '../../../src/service/engine/speech-engine.ts';
import { systemProcesses } from '../../../src/system/processes.ts';
import { system } from '../../../src/system/system.ts';
import { createService } from '../../../src/service/service.ts';
import { openStore } from '../../../src/service/store/open-store.ts';
import { voiceSources } from './voice-sources.ts';
import { mediaSources } from './media-sources.ts';
import { toneEngine } from './tone-engine.ts';

/**
 * One of several processes on a data directory. `pay DIR N`: N requests with keys of its own and one
 * with the key `shared`; prints the status of that one. `hang DIR`: begins a request with the key
 * `hanging`, prints `speaking`, and never ends it.
 */
async function main([task, dataDir = '', count = '0']: readonly string[]): Promise<void> {
  const store = await openStore({ dataDir, clock: systemClock, files: systemFiles });
  const engine = toneEngine();
  const service = createService({
    clock: systemClock,
    random: systemRandom,
    store,
    engines: new EngineRegistry([engine]),
    encode: encodeSpeech,
    audio: createAudioFolder(store.path, system),
    ...voiceSources(store),
    media: mediaSources({ clock: systemClock, random: systemRandom, store }),
    processes: systemProcesses(),
    keys: [{ key: 'key', account: 'first' }],
    allowance: { credits: 1_000_000, quota: 1_000_000 },
    allowHosts: [],
    allowOrigins: [],
    unavailableModels: [],
    report: () => undefined,
  });
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
