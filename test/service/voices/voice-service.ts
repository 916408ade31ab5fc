import { EngineRegistry } from '../../../src/service/engine/registry.ts';
import type { ServiceDeps } from '../../../src/service/service.ts';
import type { TestService } from '../support/test-service.ts';
import { testService } from '../support/test-service.ts';
import { toneEngine } from '../support/tone-engine.ts';

/** A service whose tones are long enough for their pitch to be heard. */
export function voiceService(overrides: Partial<ServiceDeps> = {}): Promise<TestService> {
  const engines = new EngineRegistry([toneEngine({ wordMs: 100 })]);
  return testService({ engines, ...overrides });
}
