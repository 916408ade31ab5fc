import type { LookupAddress } from 'node:dns';
import type { Clock } from '../../effects/clock.ts';
import type { Random } from '../../effects/random.ts';
import type { SignedLinks } from '../jobs/signed-links.ts';
import type { ServiceEvent } from '../running-service.ts';
import type { Store } from '../store/open-store.ts';
import type { RunTask } from './child/run-task.ts';
import type { MediaFolder, MediaLink } from './media-files.ts';
import { createMediaLink } from './media-files.ts';
import { createAddressPolicy } from './import/address-policy.ts';
import type { Imports } from './import/imports.ts';
import { createImports } from './import/imports.ts';
import type { MediaWorks } from './media-jobs.ts';

/** What the handlers of lip sync, dubbing, images and videos work with. */
export interface Media {
  readonly imports: Imports;
  readonly folder: MediaFolder;
  readonly link: MediaLink;
  readonly run: RunTask;
}

/** What media need of the world, besides what every part of the service does. */
export interface MediaSources {
  readonly folder: MediaFolder;
  readonly run: RunTask;
  readonly works: MediaWorks;
  /** Every network address of a name. */
  readonly resolve: (name: string) => Promise<readonly LookupAddress[]>;
  /** Whether files of this machine may be asked for: only where nobody else can ask this service. */
  readonly allowsLoopback: boolean;
  /** Hosts that may be asked wherever they are. */
  readonly allowHosts: readonly string[];
}

export interface MediaDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly links: SignedLinks;
  readonly report: (event: ServiceEvent) => void;
  readonly sources: MediaSources;
}

export function createMedia({ sources, ...deps }: MediaDeps): Media {
  const { folder, run } = sources;
  const policy = createAddressPolicy(sources);
  return {
    folder,
    run,
    imports: createImports({ ...deps, folder, policy, run }),
    link: createMediaLink(deps),
  };
}
