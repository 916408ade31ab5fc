import type { Command } from 'commander';
import { Option } from 'commander';
import { SUBTITLE_FORMATS } from '../../src/captions/cue-shape.ts';
import { parseShard } from '../../src/batch/plan/shard.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { runOptions } from '../shared/flags/batch.ts';
import { addCueFlags } from '../shared/flags/captions.ts';
import { soundChangeOptions } from '../shared/flags/sound.ts';
import { addSpeechFlags, documentOptions, pausesOption } from '../shared/flags/speech.ts';
import { addOptions, filled, oneOf } from '../../src/cli/flags/values.ts';
import type { BatchFlags } from './prepare.ts';

export const definition: CommandDefinition<BatchFlags> = {
  configure(command) {
    command
      .description(
        'Speaks many texts: files, folders, the lines of a file, or a list. The same command ' +
          'continues after an interruption: it skips finished items, fetches billed audio, and ' +
          'bills nothing twice.',
      )
      .argument(
        '[path...]',
        'texts, folders of *.txt and *.md, or tables (*.csv, *.tsv); - is stdin',
      );
    addBatchFlags(command);
    command.addHelpText('after', EXAMPLES);
  },
  async run(context, { args, options }) {
    const { prepareBatch } = await import('./prepare.ts');
    const { optimizingLater, performBatch } = await import('../shared/batch/perform.ts');
    const prepared = await optimizingLater(() => prepareBatch(context, args, options));
    if (options.dryRun === true) {
      const { describeBatch } = await import('../shared/batch/dry-run.ts');
      return describeBatch(context, prepared);
    }
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

function addBatchFlags(command: Command): void {
  addOptions(command, [...inputOptions(), ...otherOptions(), ...runOptions()]);
  addSpeechFlags(command, { usual: 'from the extension of the output, else mp3' });
  addCueFlags(command);
}

function inputOptions(): Option[] {
  return [
    new Option('--lines <file>', 'each line is an item; - is stdin').argParser(filled('--lines')),
    new Option(
      '--jsonl <file>',
      'each line is a JSON object: id, text or file, voiceId, modelId, output, format, and the ' +
        'controls by their API names; - is stdin',
    ).argParser(filled('--jsonl')),
    new Option(
      '--text-column <name>',
      'the column of a table that holds the texts (default: text)',
    ).argParser(filled('--text-column')),
    new Option('--no-recursive', 'leave out subfolders'),
    ...documentOptions(),
    pausesOption(),
    ...soundChangeOptions(),
    new Option('--output-dir <dir>', 'folder for the audio')
      .argParser(filled('--output-dir'))
      .default('.', '.'),
    new Option(
      '--name <template>',
      'name of an output: {index}, {name}, {dir}, {id}, {voice}, {ext}',
    )
      .argParser(filled('--name'))
      .default('{name}.{ext}', '{name}.{ext}'),
    new Option(
      '--shard <share>',
      'speak only the I-th of N shards, as I/N; auto reads I/N from the environment variables of Kubernetes or CI',
    ).argParser(parseShard),
  ];
}

function otherOptions(): Option[] {
  return [
    new Option(
      '--subtitles <format>',
      `captions beside each output: ${SUBTITLE_FORMATS.join(', ')}`,
    ).argParser(oneOf('--subtitles', SUBTITLE_FORMATS)),
    new Option('--timings', 'word times beside each output'),
    new Option('--redo <id>', 'buy this item again; may be repeated').argParser(
      (id: string, before: readonly string[] | undefined) => [...(before ?? []), id],
    ),
    new Option(
      '--redo-list <file>',
      'buy again the items whose ids are the lines of a file',
    ).argParser(filled('--redo-list')),
    new Option('--overwrite', 'replace files that this batch did not make'),
    new Option(
      '--idempotency-namespace <name>',
      'the same name on several machines: an item that two of them send is billed once',
    ).argParser(filled('--idempotency-namespace')),
    new Option(
      '--report <file>',
      'write a record of every item: JSON, or a page to listen to as .html',
    ).argParser(filled('--report')),
  ];
}
