import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'libsql';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/system/clock.ts';
import { systemFiles } from '../../../src/system/file-system.ts';
import { createHibariEngine } from '../../../src/service/engine/hibari/engine.ts';
import { EngineRegistry } from '../../../src/service/engine/speech-engine.ts';
import { openStore } from '../../../src/service/store/open-store.ts';
import { SCHEMA } from '../../../src/service/store/schema.ts';
import { HIBARI_WORKER_FILE } from '../../../src/service/worker-file.ts';
import { decodeAudio } from '../../harness/decode-audio.ts';
import { medianPitch } from '../../harness/median-pitch.ts';
import { speak as fliteSpeaks } from '../../harness/flite.ts';
import { jsonPost, temporaryFolder, testService } from '../support/test-service.ts';

/** The last version of the schema whose voices were voices of flite. Only the values have changed since. */
const OF_FLITE = 13;

/** Voices as the service stored them then. */
const STORED = [
  { id: 'old-woman', voice: 'slt', pitch: 1 },
  { id: 'old-man', voice: 'rms', pitch: 0 },
  { id: 'old-deep', voice: 'kal16', pitch: -2 },
  { id: 'old-high', voice: 'awb', pitch: 4 },
] as const;

async function oldDatabase(): Promise<string> {
  const dataDir = await temporaryFolder();
  await mkdir(dataDir, { recursive: true });
  const old = new Database(join(dataDir, 'service.db'));
  old.exec(SCHEMA);
  old.exec(`PRAGMA user_version = ${OF_FLITE}`);
  old.exec("INSERT INTO account (id, tier, created_at) VALUES ('first', 'free', 1)");
  for (const { id, pitch, voice } of STORED) {
    old
      .prepare(
        `INSERT INTO personal_voice (id, account_id, name, description, visibility, family, language,
           languages, engine, engine_voice, pitch, speed, created_at)
         VALUES (?, 'first', ?, 'mine', 'public', 'vendor', 'en-US', '["en-US"]', 'flite', ?, ?, 0.9, 1)`,
      )
      .run(id, id, voice, pitch);
  }
  old.close();
  return dataDir;
}

test('voices that were made with flite speak, at nearly the same pitch', async () => {
  const store = await openStore({
    clock: systemClock,
    files: systemFiles,
    dataDir: await oldDatabase(),
  });
  const engine = createHibariEngine({ workerFile: HIBARI_WORKER_FILE });
  onTestFinished(() => engine.close());
  const { call } = await testService({ store, engines: new EngineRegistry([engine]) });
  const text = 'My own voice is in here. Nobody knows where the yellow lemon is.';
  for (const { id, pitch, voice } of STORED) {
    const response = await call('/api/open/v3/speech/tts', jsonPost({ text, voiceId: id }));
    expect([id, response.status]).toEqual([id, 200]);
    const { channels, sampleRate } = await decodeAudio(
      new Uint8Array(await response.arrayBuffer()),
    );
    const heard = medianPitch({ samples: channels[0] ?? new Float32Array(0), sampleRate });
    const before = medianPitch({
      samples: fliteSpeaks(text, { voice, pitch }),
      sampleRate: 16_000,
    });
    expect(Math.abs(12 * Math.log2(heard / before)), `${id}: ${heard}, ${before} Hz`).toBeLessThan(
      2,
    );
  }
}, 60_000);
