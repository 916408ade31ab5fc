import type { Clock } from '../../../src/system/clock.ts';
import type { Random } from '../../../src/system/random.ts';
import { system } from '../../../src/system/system.ts';
import type { MediaSources } from '../../../src/service/media/media-jobs.ts';
import { systemMedia } from '../../../src/service/media/media-service.ts';
import type { Store } from '../../../src/service/store/open-store.ts';

/** Media as a service on loopback has them, beside its database. */
export function mediaSources({
  clock,
  random,
  store,
}: {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Pick<Store, 'path'>;
}): MediaSources {
  return systemMedia({
    system: { ...system, clock, random },
    databasePath: store.path,
    host: '127.0.0.1',
    allowHosts: [],
  });
}
