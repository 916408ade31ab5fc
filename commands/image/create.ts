import { Option } from 'commander';
import { formatOfPath, extensionOf } from '../../src/audio/formats.ts';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import { addOptions, choiceOption, filled } from '../../src/cli/flags/values.ts';
import { RESOLUTIONS } from '../../src/contract/values.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { refuseUnusedWaitFlags } from '../shared/flags/jobs.ts';
import type { MediaCreation } from '../shared/media/create-media.ts';
import { createMedia, describeMedia } from '../shared/media/create-media.ts';
import { readInputs } from '../shared/media/input-addresses.ts';
import {
  createOptions,
  refuseOtherEnding,
  givenReferences,
  pictureOptions,
  referenceFields,
  refuseOverBudget,
} from '../shared/flags/media.ts';
import type { PictureFlags, MediaCreateFlags } from '../shared/flags/media.ts';
import type { MediaPlace } from '../shared/media/format.ts';
import type { CommandResult, DryRunDocument } from '../../src/cli/render/result.ts';
import { automaticName } from '../../src/durable/names.ts';
import { openOutput } from '../../src/durable/publish.ts';
import { PLAIN } from '../../src/cli/render/style.ts';
import type { JobDocument } from '../shared/jobs/format.ts';

interface ImageCreateFlags extends PictureFlags {
  readonly aspectRatio?: string;
  readonly resolution?: (typeof RESOLUTIONS)[number];
  readonly preview?: true;
}

/** Defines the command `foley image create PROMPT` (docs/api/media.md). */
export const definition: CommandDefinition<ImageCreateFlags, JobDocument | DryRunDocument> = {
  freeText: true,
  configure(command) {
    command
      .description('Creates an image from a description, and prints the job id.')
      .argument('<prompt>', 'description of the image')
      .addHelpText('after', EXAMPLES);
    const resolutions = `${RESOLUTIONS.join(', ')}, where the model offers it (default: 1k)`;
    addOptions(command, [
      ...pictureOptions('image'),
      new Option('--aspect-ratio <ratio>', 'width to height, such as 16:9').argParser(ratio),
      choiceOption('--resolution <tier>', resolutions, RESOLUTIONS),
      new Option('--preview', 'wait, save the image, and show it in the terminal'),
      ...createOptions('the image'),
    ]);
  },
  async run(context, { args: [given = ''], options }) {
    const prompt = filled('PROMPT')(given);
    if (options.preview !== true) refuseUnusedWaitFlags(options);
    refuseOtherEnding('image', options.output);
    const { aspectRatio, model, output, resolution } = options;
    const task: MediaCreation = {
      kind: 'image',
      inputs: await readInputs(context, givenReferences(options)),
      async order(urls, connection) {
        await refuseOverBudget(context, 'image', options, connection);
        const references = referenceFields(urls);
        const asked = { prompt, model, aspect_ratio: aspectRatio, resolution, ...references };
        return { ...asked, output_format: formatFor(output, connection.target) };
      },
    };
    if (options.dryRun === true) return describeMedia(context, task, options);
    if (options.preview !== true) return (await createMedia(context, task, options)).result;
    return createAndShow(context, task, options, prompt);
  },
};

const EXAMPLES = `
\`foley image models\` lists models and prices. References are URLs or files,
up to four, in order.

Examples:
  $ foley image create "A lighthouse" -m vendor-image-1-flash -o dusk.png
  $ foley image create "Dawn" -m altH-image-2 --image lighthouse.png --preview`;

// The API of hosted services does not document `output_format`.
function formatFor(output: string | undefined, target: 'embedded' | 'hosted'): string | undefined {
  return output === undefined || target === 'hosted' ? undefined : formatOfPath(output);
}

function ratio(given: string): string {
  if (/^[1-9]\d{0,2}:[1-9]\d{0,2}$/.test(given)) return given;
  throw usageFailure(
    `--aspect-ratio is "${given}"; it takes a ratio of width to height, such as 16:9`,
    '`foley image models` lists the ratios.',
  );
}

async function createAndShow(
  context: Context,
  task: MediaCreation,
  flags: MediaCreateFlags,
  prompt: string,
): Promise<CommandResult<JobDocument>> {
  const { output } = flags;
  if (context.globals.json === true || output === '-') {
    const otherFlag = output === '-' ? '-o -' : '--json';
    throw usageFailure(`--preview does not work with ${otherFlag}`, 'Keep one of them.');
  }
  const place = output === undefined ? await automaticPlace(context, prompt) : undefined;
  const withPlace = place === undefined ? task : { ...task, place };
  const { outcome, result } = await createMedia(context, withPlace, flags);
  const file = outcome.saved?.path;
  if (file === undefined) return result;
  await show(context, file);
  return { ...result, human: () => file };
}

async function automaticPlace(context: Context, prompt: string): Promise<MediaPlace> {
  const open = (extension: string) =>
    openOutput(context.system, {
      signal: context.signal,
      path: automaticName(prompt, extension),
      existing: 'number',
    });
  const file = await open('png');
  let current = file;
  return {
    file,
    nextName: () => current.path,
    async placeFor(_ref, format) {
      if (format !== 'png') {
        current = await open(extensionOf(format));
        await file.abandon();
      }
      return { output: current };
    },
    abandon: () => current.abandon(),
  };
}

// The image goes to stderr if that is a terminal, since stdout is for the result.
async function show({ env, system: { files }, io }: Context, file: string): Promise<void> {
  const { stderrIsTerminal, stdoutIsTerminal } = io;
  const style = stderrIsTerminal ? io.err : io.out;
  if (!stderrIsTerminal && !stdoutIsTerminal) {
    io.notice('foley: --preview works on a terminal only');
    return;
  }
  const { drawPreview, previewProtocol } = await import('./preview.ts');
  const protocol = previewProtocol(env, style.paint !== PLAIN);
  const picture = protocol && (await drawPreview(await files.readFile(file), protocol, style));
  if (picture === undefined) io.notice('foley: this terminal cannot show images');
  else if (stderrIsTerminal) io.progressStream.write(picture);
  else await io.writeOut(picture);
}
