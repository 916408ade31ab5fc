import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { fileURLToPath } from 'node:url';
import type { System } from '../../system/system.ts';
import type { Clock } from '../../system/clock.ts';
import type { Random } from '../../system/random.ts';
import type { SignedLinks } from '../jobs/signed-links.ts';
import type { Store } from '../store/open-store.ts';
import { FONT_FILE, FONT_SETTINGS_FILE, MEDIA_CHILD_FILE } from '../worker-file.ts';
import type { RunTask } from './child/run-task.ts';
import { createTaskRunner } from './child/run-task.ts';
import type { MediaFolder } from './media-files.ts';
import { createMediaFolder, createMediaLink } from './media-files.ts';
import { createAddressPolicy } from './import/address-policy.ts';
import { Imports } from './import/imports.ts';
import { lipSyncWork } from './lipsync/sync-lips.ts';
import type { MediaWorks } from './media-jobs.ts';
import { createPictureWorks } from './pictures/pictures.ts';

/** Gives the media jobs access to the file system, child processes and the network. Tests replace this object. */
export interface MediaSources {
  readonly folder: MediaFolder;
  readonly run: RunTask;
  readonly works: MediaWorks;
  readonly resolve: (name: string) => Promise<readonly LookupAddress[]>;
  /**
   * True to allow downloads from this machine (loopback addresses). Set only if the service itself listens on loopback.
   */
  readonly allowsLoopback: boolean;
  /** Hosts from which downloads are allowed even in private networks. */
  readonly allowHosts: readonly string[];
}

interface MediaDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly links: SignedLinks;
  readonly sources: MediaSources;
}

/** Creates the dependencies of the endpoints for lip sync, dubbing, images and videos. */
export function createMedia({ sources, ...deps }: MediaDeps) {
  const { folder, run } = sources;
  const policy = createAddressPolicy(sources);
  const imports = new Imports({ ...deps, folder, policy, run });
  return { folder, run, imports, link: createMediaLink(deps) };
}

interface SystemMediaOptions extends Pick<MediaSources, 'allowHosts'> {
  readonly system: System;
  /** Path of the database; media files are stored next to it. */
  readonly databasePath: string;
  /** Host on which the service listens. */
  readonly host: string;
}

/** Creates the `MediaSources` of a real service, with the operating system's files, processes and name resolution. */
export function systemMedia({
  allowHosts,
  databasePath,
  host,
  system,
}: SystemMediaOptions): MediaSources {
  return {
    folder: createMediaFolder(databasePath, system),
    run: createTaskRunner({ clock: system.clock, file: MEDIA_CHILD_FILE, env: CHILD_ENVIRONMENT }),
    works: {
      lip_sync: lipSyncWork,
      video_dubbing: lipSyncWork,
      ...createPictureWorks(fileURLToPath(FONT_FILE)),
    },
    resolve: (name) => lookup(name, { all: true }),
    allowsLoopback: LOOPBACK.test(host),
    allowHosts,
  };
}

// Only foley's fonts and font settings.
const CHILD_ENVIRONMENT = { FONTCONFIG_FILE: fileURLToPath(FONT_SETTINGS_FILE) };

const LOOPBACK = /^(localhost|::1|127(\.\d{1,3}){3})$/;
