import { lookup } from 'node:dns/promises';
import type { FileDeps } from '../../files/file-deps.ts';
import { MEDIA_CHILD_FILE } from '../worker-file.ts';
import { createTaskRunner } from './child/run-task.ts';
import { createMediaFolder } from './files/media-folder.ts';
import type { MediaSources } from './media.ts';
import { createMediaWorks } from './works.ts';

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
    run: createTaskRunner({ clock: deps.clock, file: MEDIA_CHILD_FILE }),
    works: createMediaWorks(),
    resolve: (name) => lookup(name, { all: true }),
    allowsLoopback: LOOPBACK.test(host),
    allowHosts,
  };
}

const LOOPBACK = /^(localhost|::1|127(\.\d{1,3}){3})$/;
