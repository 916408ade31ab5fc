import { expect } from 'vitest';
import { EngineRegistry } from '../../../src/service/engine/speech-engine.ts';
import type { ServiceDeps } from '../../../src/service/service-context.ts';
import type { TestService } from '../support/test-service.ts';
import { testService } from '../support/test-service.ts';
import { toneEngine } from '../support/tone-engine.ts';
import { recording, upload } from './form.ts';

export interface VoiceService extends TestService {
  /** Makes a voice and gives what is answered. */
  make(fields?: Readonly<Record<string, string>>, key?: string): Promise<Record<string, unknown>>;
}

const reference = recording({ medianHz: 150, seconds: 1 });

/** A service whose tones are long enough for their pitch to be heard. */
export async function voiceService(overrides: Partial<ServiceDeps> = {}): Promise<VoiceService> {
  const engine = toneEngine({ wordMs: 100 });
  const service = await testService({ engines: new EngineRegistry([engine]), ...overrides });
  return {
    ...service,
    engine,
    async make(fields = {}, key) {
      const request = upload({ name: 'Ada', ...fields }, [reference]);
      const headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
      const response = await service.call('/api/open/v1/voices', { ...request, headers });
      const body = Object(await response.json());
      expect([response.status, body]).toEqual([200, body]);
      return body;
    },
  };
}
