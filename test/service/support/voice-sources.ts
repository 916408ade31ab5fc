import { systemFiles } from '../../../src/system/file-system.ts';
import { systemRandom } from '../../../src/system/random.ts';
import { hearFiles } from '../../../src/service/voices/listen/hear-files.ts';
import type { ServiceDeps } from '../../../src/service/service-context.ts';
import type { Store } from '../../../src/service/store/open-store.ts';
import { createTemporaryFolder } from '../../../src/service/http/multipart-form.ts';

/** What a service needs to make voices; uploads are measured without a thread of their own. */
export function voiceSources(store: Store): Pick<ServiceDeps, 'hearRecordings' | 'uploads'> {
  return {
    uploads: createTemporaryFolder(store.path, { files: systemFiles, random: systemRandom }),
    hearRecordings: hearFiles,
  };
}
