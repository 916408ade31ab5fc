import { systemFiles } from '../../../src/effects/file-system.ts';
import { systemRandom } from '../../../src/effects/random.ts';
import { hear } from '../../../src/service/voices/listen/listen-to-file.ts';
import type { Listener } from '../../../src/service/voices/listen/listening-thread.ts';
import type { ServiceDeps } from '../../../src/service/service.ts';
import type { Store } from '../../../src/service/store/open-store.ts';
import { createTemporaryFolder } from '../../../src/service/http/temporary-file.ts';

/** What a service needs to make voices, with a listener that has no thread of its own. */
export function voiceSources(store: Store): Pick<ServiceDeps, 'openListener' | 'uploads'> {
  return {
    uploads: createTemporaryFolder(store.path, { files: systemFiles, random: systemRandom }),
    openListener: listenHere,
  };
}

/** A listener without a thread. */
export function listenHere(): Listener {
  return {
    async hearFiles(files) {
      const heard = await hear({ kind: 'files', files });
      if (heard.kind === 'failed') throw new Error(heard.message);
      return heard;
    },
    async hearSamples(speech) {
      const heard = await hear({ kind: 'samples', ...speech });
      return heard.kind === 'heard' ? heard.profile : undefined;
    },
    async close() {},
  };
}
