import type { ServiceAddress } from '../api/service-address.ts';
import type { OpenServiceOptions } from '../service/running-service.ts';
import type { ServiceHost } from './start-service.ts';
import { startService } from './start-service.ts';

/** The embedded service of one command. */
export interface EmbeddedService {
  readonly address: ServiceAddress;
  /**
   * Finishes what runs and the jobs that were left behind, then ends the service. Once `hurry` is aborted
   * they are left to the next one on the same data.
   */
  close(hurry?: AbortSignal): Promise<void>;
}

/**
 * Starts the embedded service for as long as a command needs it: on this computer, a free port and
 * a random key.
 * @throws Failure (state) when its data cannot be used
 */
export async function startEmbedded(
  host: ServiceHost,
  options: Partial<OpenServiceOptions> = {},
): Promise<EmbeddedService> {
  const service = await startService(options, host);
  return {
    address: {
      kind: 'embedded',
      baseUrl: new URL(service.baseUrl),
      realtimeUrl: new URL(service.realtimeUrl),
      apiKey: service.apiKey,
    },
    close: (hurry) => service.close(hurry),
  };
}
