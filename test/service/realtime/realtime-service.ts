import { onTestFinished } from 'vitest';
import { systemRandom } from '../../../src/system/random.ts';
import { startServer } from '../../../src/service/http/serve.ts';
import type { SocketListener } from '../../../src/service/realtime/session.ts';
import type { ServiceDeps } from '../../../src/service/service-context.ts';
import type { Service } from '../../../src/service/service.ts';
import { connectRealtime } from '../../realtime/raw-client.ts';
import type { ClientOptions, RawRealtimeClient } from '../../realtime/raw-client.ts';
import type { Version } from '../../realtime/messages.ts';
import type { TestService } from '../support/test-service.ts';
import { KEY, testService, voiceId } from '../support/test-service.ts';

/** A service in memory behind a real socket, with a clock that is turned by hand. */
export interface RealtimeService extends TestService {
  readonly baseUrl: string;
  connect(version: Version, options?: Partial<ClientOptions>): Promise<RawRealtimeClient>;
  close(hurry?: AbortSignal): Promise<void>;
}

/** @param between something between the sockets and the connections */
export async function realtimeService(
  overrides: Partial<ServiceDeps> = {},
  between = (listener: SocketListener): SocketListener => listener,
): Promise<RealtimeService> {
  const test = await testService(overrides);
  const { clock } = test;
  const service: Service = {
    ...test.service,
    open: (admission, socket) => between(test.service.open(admission, socket)),
  };
  const options = { service, host: '127.0.0.1', port: 0, clock, random: systemRandom };
  const server = await startServer(options);
  const { baseUrl } = server;
  onTestFinished(() => server.close(AbortSignal.abort()));
  return {
    ...test,
    baseUrl,
    connect: (version, more = {}) => connectRealtime({ version, baseUrl, key: KEY, ...more }),
    close: server.close,
  };
}

/** `start.request` with the names of v3; on v2 it has the profile that has no surprises. */
export function plainRequest(version: Version, more: Readonly<Record<string, unknown>> = {}) {
  return {
    ...(version === 'v2' ? { parameterProfile: 'product_v1' } : {}),
    voiceId: voiceId('Clara'),
    modelId: 'vendor-s21pro',
    ...more,
  };
}
