import { afterAll, describe, test } from 'vitest';
import { BEHAVIOURS } from './all-behaviours.ts';
import { withDocumentCheck } from './document-check.ts';
import { openService } from './open-service.ts';
import type { ServiceUnderTest } from './service-under-test.ts';
import { NotApplicable } from './service-under-test.ts';
import type { StartedService } from './start-service.ts';
import { startService } from './start-service.ts';

const started: Promise<StartedService>[] = [];
const opened = new Map<string, Promise<ServiceUnderTest>>();

/**
 * The embedded service, one for each way of starting it that rows ask for. Its answers are held
 * against its own document, but for those that it was told to give.
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

afterAll(async () => {
  await Promise.all(started.map(async (service) => (await service).stop()));
});

describe('the embedded service', () => {
  test.each(BEHAVIOURS.map((row) => [row.id, row.what, row] as const))(
    '%s: %s',
    async (_id, _what, row) => {
      await row.check(await embedded(row.serve ?? []));
    },
  );
});

/** Another service: its address, with its key in `FOLEY_API_KEY`. */
const given = process.env['FOLEY_CONFORMANCE_URL'];
const maySpend = process.env['FOLEY_CONFORMANCE_SPEND'] === '1';

describe.skipIf(given === undefined)('the service at FOLEY_CONFORMANCE_URL', () => {
  const service = openService({
    baseUrl: given ?? '',
    key: process.env['FOLEY_API_KEY'] ?? '',
    isOurs: false,
  });
  const asked = BEHAVIOURS.filter(
    ({ serve, spends = false }) => serve === undefined && (maySpend || !spends),
  );
  test.for(asked.map((row) => [row.id, row.what, row] as const))(
    '%s: %s',
    async ([, , { check }], { skip }) => {
      await check(service).catch((error: unknown) => {
        // A model or a voice that this service does not have is no fault of it, and no proof either.
        if (error instanceof NotApplicable) skip(error.message);
        throw error;
      });
    },
  );
});
