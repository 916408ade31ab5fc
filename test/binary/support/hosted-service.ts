import { expect } from 'vitest';
import { startFaultServer } from '../../fault-server/fault-server.ts';
import type { FaultServer } from '../../fault-server/fault-server.ts';
import {
  healthyService,
  SPEECH_PATH,
  VOICES,
  VOICES_PATH,
} from '../../fault-server/healthy-service.ts';
import { answer } from '../../fault-server/http-text.ts';
import type { RecordedRequest } from '../../fault-server/recorded-request.ts';
import type { Rule } from '../../fault-server/script.ts';
import { tinyAudio } from '../../fault-server/tiny-audio.ts';
import { hosted } from '../../harness/hosted.ts';

/** The voice that commands speak with, as the environment of a hosted service names it. */
export const [VOICE] = VOICES;

export interface HostedService {
  readonly server: FaultServer;
  /** Makes a command talk to the server, with a canary key and a voice. */
  readonly env: Readonly<Record<string, string>>;
}

/** A hosted service in good health, with rules before it for what is to go wrong. */
export async function startHostedService(faults: readonly Rule[] = []): Promise<HostedService> {
  const rules = [...faults, ...healthyService({ audio: await tinyAudio() })];
  const server = await startFaultServer(rules);
  return { server, env: hosted(server, { FOLEY_VOICE: VOICE.voiceId }) };
}

/** The one speech request that came; fails when there was none, or more than one. */
export function speechRequestOf(server: FaultServer): RecordedRequest {
  const requests = server.requests.filter(({ path }) => path === SPEECH_PATH);
  expect(requests).toHaveLength(1);
  const [request] = requests;
  if (request === undefined) throw new Error('No speech was asked for.');
  return request;
}

/** The JSON body of the one speech request that came. */
export function speechBodyOf(server: FaultServer): unknown {
  return JSON.parse(speechRequestOf(server).body.toString());
}

/** A rule that answers with these voices, all on one page. */
export function voicesAnswer(items: readonly object[]): Rule {
  const page = { total: items.length, page: 1, pageSize: 20, totalPages: 1, items, requestId: 'r' };
  const json = { 'Content-Type': 'application/json' };
  return { method: 'GET', path: VOICES_PATH, answer: answer(200, json, JSON.stringify(page)) };
}
