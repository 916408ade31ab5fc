import type { CommandDefinition } from '../../src/cli/command.ts';
import { addBatchFlags } from './batch-flags.ts';
import type { BatchFlags } from './batch-flags.ts';

/** `foley batch` */
export const batch: CommandDefinition<BatchFlags> = {
  configure(command) {
    command
      .description(
        'Speaks many texts: files, folders, the lines of a file, or a list. The same command ' +
          'continues after an interruption: it skips finished items, fetches billed audio, and ' +
          'bills nothing twice.',
      )
      .argument('[path...]', 'texts, folders of *.txt and *.md, or tables (*.csv); - is stdin');
    addBatchFlags(command);
    command.addHelpText('after', EXAMPLES);
  },
  async run(context, { args, options }) {
    const { prepareBatch } = await import('./prepare.ts');
    const prepared = await prepareBatch(context, args, options);
    if (options.dryRun === true) {
      const { describeBatch } = await import('./dry-run.ts');
      return describeBatch(context, prepared);
    }
    const { performBatch } = await import('./perform.ts');
    return performBatch(context, prepared);
  },
};

const EXAMPLES = `
Examples:
  $ foley batch chapters/ --output-dir audio
  $ foley batch book/ --name '{dir}/{name}.{ext}' --output-dir audio
  $ foley batch --lines phrases.txt --name '{index}.{ext}' --format wav
  $ foley batch --jsonl items.jsonl --max-credits 5000 --credit-rate 1
  $ foley batch chapters/ --shard 2/8 --idempotency-namespace book-1`;
