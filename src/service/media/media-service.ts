import { lookup } from 'node:dns/promises';
import { fileURLToPath } from 'node:url';
import type { System } from '../../system/system.ts';
import type { Clock } from '../../system/clock.ts';
import type { Random } from '../../system/random.ts';
import type { SignedLinks } from '../jobs/signed-links.ts';
import type { Store } from '../store/open-store.ts';
import { FONT_FILE, FONT_SETTINGS_FILE, MEDIA_CHILD_FILE } from '../worker-file.ts';
import { createTaskRunner } from './child/run-task.ts';
import { createMediaFolder, createMediaLink } from './media-files.ts';
import { Imports } from './import/imports.ts';
import { lipSyncWork } from './lipsync/sync-lips.ts';
import type { MediaSources } from './media-jobs.ts';
import { createPictureWorks } from './pictures/pictures.ts';

interface MediaDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly media: MediaSources;
}

/** Creates the dependencies of the endpoints for lip sync, dubbing, images and videos. */
export function createMedia(deps: MediaDeps, links: SignedLinks) {
  const { folder, run } = deps.media;
  return { folder, run, imports: new Imports(deps), link: createMediaLink(deps.clock, links) };
}

interface SystemMediaOptions {
  readonly allowHosts: readonly string[];
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
