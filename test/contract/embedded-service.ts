import { afterAll, describe, test } from 'vitest';
import type { Behaviour } from './behaviour.ts';
import { withDocumentCheck } from './document-check.ts';
import { openService } from './open-service.ts';
import type { ServiceUnderTest } from './service-under-test.ts';
import type { StartedService } from './start-service.ts';
import { startService } from './start-service.ts';

/** Asks the embedded service for each row. */
export function askEmbedded(rows: readonly Behaviour[]): void {
  describe('the embedded service', () => {
    test.each(rows.map((row) => [row.id, row.what, row] as const))(
      '%s: %s',
      async (_id, _what, row) => {
        await row.check(await embedded(row.serve ?? []));
      },
    );
  });

  afterAll(async () => {
    await Promise.all(started.map(async (service) => (await service).stop()));
  });
}

const started: Promise<StartedService>[] = [];
const opened = new Map<string, Promise<ServiceUnderTest>>();

/**
 * The embedded service, one for each way of starting it that rows ask for. Its answers are held
 * against its own document, except those of fault rules.
 */
async function embedded(flags: readonly string[]): Promise<ServiceUnderTest> {
  const name = flags.join('\n');
  const service = opened.get(name) ?? open(flags);
  opened.set(name, service);
  return service;
}

async function open(flags: readonly string[]): Promise<ServiceUnderTest> {
  const starting = startService(flags);
  started.push(starting);
  const { baseUrl, key, otherKey } = await starting;
  const service = openService({ baseUrl, key, otherKey, isOurs: true });
  const isFaulty = flags.some((flag) => flag.includes('status='));
  return isFaulty ? service : withDocumentCheck(service);
}
