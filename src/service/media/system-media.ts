import { lookup } from 'node:dns/promises';
import { fileURLToPath } from 'node:url';
import type { FileDeps } from '../../durable/files.ts';
import { FONT_FILE, FONT_SETTINGS_FILE, MEDIA_CHILD_FILE } from '../worker-file.ts';
import { createTaskRunner } from './child/run-task.ts';
import { createMediaFolder } from './media-files.ts';
import type { MediaSources } from './media.ts';
import { lipSyncWork } from './lipsync/lip-sync.ts';
import { createPictureWorks } from './pictures/picture-works.ts';

export interface SystemMediaOptions extends FileDeps {
  /** The database that tells what the files are. */
  readonly databasePath: string;
  /** Where the service listens. */
  readonly host: string;
  /** Hosts that may be asked wherever they are. */
  readonly allowHosts: readonly string[];
}

/** Media as this machine has them: files beside the database, processes, and its resolver. */
export function systemMedia({
  allowHosts,
  databasePath,
  host,
  ...deps
}: SystemMediaOptions): MediaSources {
  return {
    folder: createMediaFolder(databasePath, deps),
    run: createTaskRunner({ clock: deps.clock, file: MEDIA_CHILD_FILE, env: CHILD_ENVIRONMENT }),
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

/** Letters are drawn without the fonts and the settings of the system. */
const CHILD_ENVIRONMENT = { FONTCONFIG_FILE: fileURLToPath(FONT_SETTINGS_FILE) };

const LOOPBACK = /^(localhost|::1|127(\.\d{1,3}){3})$/;
