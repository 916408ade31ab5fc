import type { Clock } from '../../../src/effects/clock.ts';
import { systemFiles } from '../../../src/effects/file-system.ts';
import type { Random } from '../../../src/effects/random.ts';
import type { MediaSources } from '../../../src/service/media/media-service.ts';
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
    clock,
    random,
    files: systemFiles,
    platform: process.platform,
    databasePath: store.path,
    host: '127.0.0.1',
    allowHosts: [],
  });
}
