import type { CommandDefinition } from '../../src/cli/command.ts';
import { counted } from '../../src/text/display.ts';
import { formatBytes } from '../shared/engine-list.ts';
import type { RemovedAudio } from '../shared/journal.ts';
import { reuseFolder } from '../shared/journal.ts';

/** Defines the command `foley reuse prune`. */
export const definition: CommandDefinition<object, RemovedAudio> = {
  configure(command) {
    command.description(
      'Removes damaged and unfinished files of --reuse, and the audio that was not used for the longest ' +
        'time, until the rest fits into the setting reuse.maxSize.',
    );
  },
  async run(context) {
    const { pruneFolder } = await import('../../src/paid/reuse/reuse-folder.ts');
    const { folder, maxBytes } = await reuseFolder(context);
    const { bytes, files } = await pruneFolder(context.system, folder, maxBytes);
    context.io.notice(`removed ${counted(files, 'file')} (${formatBytes(bytes)})`);
    return { data: { removed: files, bytes } };
  },
};
