import { fileURLToPath } from 'node:url';
import { FONT_FILE } from '../worker-file.ts';
import type { MediaWorks } from './jobs/work.ts';
import { lipSyncWork } from './lipsync/lip-sync.ts';
import { createPictureWorks } from './pictures/picture-works.ts';

/** How every kind of media job is done. */
export function createMediaWorks(): MediaWorks {
  return {
    lip_sync: lipSyncWork,
    video_dubbing: lipSyncWork,
    ...createPictureWorks(fileURLToPath(FONT_FILE)),
  };
}
