import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { systemFiles } from '../../../src/system/file-system.ts';
import { EngineRegistry } from '../../../src/service/engine/speech-engine.ts';
import type { ServiceEvent } from '../../../src/service/running-service.ts';
import type { ServiceDeps } from '../../../src/service/service-context.ts';
import type { Service } from '../../../src/service/service.ts';
import type { Store } from '../../../src/service/store/open-store.ts';
import { openStore } from '../../../src/service/store/open-store.ts';
import { VOICES } from '../../../src/service/voices/catalogue-voice.ts';
import type { ManualClock } from '../../api/manual-clock.ts';
import { manualClock } from '../../api/manual-clock.ts';
import { newService } from './new-service.ts';
import type { ToneEngine } from './tone-engine.ts';
import { toneEngine } from './tone-engine.ts';

export const BASE_URL = 'http://127.0.0.1:4747';
export const KEY = 'test-key';
export const OTHER_KEY = 'other-key';

export interface TestService {
  readonly service: Service;
  readonly store: Store;
  readonly engine: ToneEngine;
  readonly clock: ManualClock;
  readonly events: readonly ServiceEvent[];
  readonly dataDir: string;
  /** A request with the first account's key. */
  call(path: string, init?: RequestInit): Promise<Response>;
  /** `POST /speech/tts` of v3. */
  speak(body: unknown, headers?: Record<string, string>): Promise<Response>;
  balance(key?: string): Promise<{ readonly credits: number; readonly quota: number }>;
}

/** A whole service in memory but for its database, which is removed when the test ends. */
export async function testService(overrides: Partial<ServiceDeps> = {}): Promise<TestService> {
  const dataDir = await temporaryFolder();
  const clock = manualClock();
  const ownStore = await openStore({ dataDir, clock, files: systemFiles });
  onTestFinished(() => ownStore.close());
  const { store = ownStore } = overrides;
  const engine = toneEngine();
  const events: ServiceEvent[] = [];
  const service = newService({
    clock,
    store,
    engines: new EngineRegistry([engine]),
    keys: [
      { key: KEY, account: 'first' },
      { key: OTHER_KEY, account: 'second' },
    ],
    report: (event) => events.push(event),
    ...overrides,
  });
  const call = (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    if (!headers.has('Authorization')) headers.set('Authorization', `Bearer ${KEY}`);
    return service.fetch(new Request(BASE_URL + path, { ...init, headers }));
  };
  return {
    service,
    store,
    engine,
    clock,
    events,
    dataDir,
    call,
    speak: (body, headers = {}) => call('/api/open/v3/speech/tts', jsonPost(body, headers)),
    async balance(key = KEY) {
      const response = await call('/api/open/v1/profile', {
        headers: { Authorization: `Bearer ${key}` },
      });
      const profile: unknown = await response.json();
      return balanceOf(profile);
    },
  };
}

export function jsonPost(body: unknown, headers: Record<string, string> = {}): RequestInit {
  return {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
}

/** A folder that is removed when the test ends. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'foley-service-'));
  // A service that is closed in a hurry may still put a file where others were removed.
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** Id of the voice with this name. */
export function voiceId(name: string): string {
  const voice = VOICES.find((one) => one.name === name);
  if (voice === undefined) throw new Error(`There is no voice ${name}.`);
  return voice.id;
}

function balanceOf(profile: unknown): { credits: number; quota: number } {
  const fields = new Map(Object.entries(Object(profile)));
  return {
    credits: Number(fields.get('credits')),
    quota: Number(fields.get('api_quota_remaining')),
  };
}
