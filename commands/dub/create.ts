import { Option } from 'commander';
import type { MediaRequest } from '../../src/api/resources/media.ts';
import type { CommandDefinition, Context, ServiceConnection } from '../../src/cli/command.ts';
import { refuseUnusedWaitFlags } from '../shared/flags/jobs.ts';
import type { MediaCreateFlags } from '../shared/flags/media.ts';
import { createOptions, refuseOtherEnding } from '../shared/flags/media.ts';
import { controlOptions, modelOption, textOptions, voiceOptions } from '../shared/flags/speech.ts';
import { addOptions } from '../../src/cli/flags/values.ts';
import { serviceFlags } from '../shared/jobs/format.ts';
import type { MediaCreation } from '../shared/media/create-media.ts';
import { createMedia, describeMedia } from '../shared/media/create-media.ts';
import { readInputs } from '../shared/media/input-addresses.ts';
import { chooseTextSource } from '../shared/choose-text-source.ts';
import type { CommandResult, DryRunDocument } from '../../src/cli/render/result.ts';
import { namedVoice } from '../shared/flags/voices.ts';
import { resolveSetting } from '../../src/config/settings.ts';
import type { MediaInput } from '../../src/media/inputs.ts';
import type { SpokenTextFlags } from '../../src/speech/speech-text.ts';
import { refusePronunciations } from '../../src/speech/pronunciations.ts';
import { readSpeech, refusePauses } from '../../src/speech/speech-text.ts';
import { quoted } from '../../src/text/display.ts';
import type { JobDocument } from '../shared/jobs/format.ts';
import type { ExtendedDubDocument } from '../shared/media/extended-dub.ts';

interface DubCreateFlags extends MediaCreateFlags, SpokenTextFlags {
  readonly file?: string;
  readonly video: string;
  readonly voice?: string;
  readonly voiceName?: string;
  readonly model?: string;
  readonly speed?: number;
  readonly language?: string;
  readonly fit?: true;
  readonly extend?: true;
}

export type DubDocument = JobDocument | ExtendedDubDocument | DryRunDocument;

/** Defines the command `foley dub create [TEXT…]` (docs/api/lip-sync.md#dubbing). */
export const definition: CommandDefinition<DubCreateFlags, DubDocument> = {
  freeText: true,
  configure(command) {
    command
      .description('Speaks a text, syncs the lips of a video to it, and prints the job id.')
      .argument('[text...]', 'text to speak')
      .addHelpText('after', EXAMPLES);
    addOptions(command, [
      ...textOptions(),
      new Option(
        '--video <url-or-file>',
        'video to use: a URL or a file (required)',
      ).makeOptionMandatory(),
      ...voiceOptions(),
      modelOption(),
      ...controlOptions(['speed', 'language']),
      new Option('--fit', "change the speed, 0.5x to 2x, to match the video's length"),
      new Option(
        '--extend',
        'keep the whole video and speech: add silence, or repeat the video',
      ).conflicts('fit'),
      ...createOptions('the video'),
    ]);
  },
  async run(context, { args, options }) {
    refuseUnusedWaitFlags(options);
    refuseOtherEnding('dub', options.output);
    const inputs = await readInputs(context, [[options.video, '--video']]);
    const source = await chooseTextSource(context, args, options.file);
    const { spoken, text } = await readSpeech(source, options, await context.settings());
    refusePauses(spoken, '`foley dub create`');
    refusePronunciations(spoken, '`foley dub create`');
    if (options.extend === true) return extended(context, options, text, inputs);
    const task: MediaCreation = {
      kind: 'dub',
      inputs,
      order: ([url = ''], connection) => bodyOf(context, options, { text, url }, connection),
      continueCommand: (audio) => lipSyncLine(context, options, audio),
    };
    if (options.dryRun === true) return describeMedia(context, task, options);
    return (await createMedia(context, task, options)).result;
  },
};

async function extended(
  context: Context,
  options: DubCreateFlags,
  text: string,
  inputs: readonly MediaInput[],
): Promise<CommandResult<DubDocument>> {
  const [video] = inputs;
  if (video === undefined) throw new Error('the dubbing has no video');
  const order = async (connection: ServiceConnection) => {
    const { language, modelId, speed, voiceId } = await speechOf(
      context,
      options,
      text,
      connection,
    );
    return {
      text,
      voiceId,
      ...(modelId === undefined ? {} : { modelId }),
      ...(speed === undefined ? {} : { speed }),
      ...(language === undefined ? {} : { language }),
    };
  };
  const { createExtendedDub } = await import('../shared/media/extended-dub.ts');
  return createExtendedDub(context, { video, order }, options);
}

const EXAMPLES = `
The result is as long as the shorter of video and speech. --extend speaks
the text as a job, fills its sound with silence until the video ends, and
creates a lip-sync job with both.

If the speech was billed but the lip sync cannot start, foley keeps the
speech and prints the command that continues with it.

Examples:
  $ foley dub create "Welcome to the show." --video clip.mp4 -o dubbed.mp4
  $ foley dub create -f script.txt --video clip.mp4 --fit --wait
  $ foley dub create "Welcome." --video clip.mp4 --extend -o dubbed.mp4`;

async function bodyOf(
  context: Context,
  options: DubCreateFlags,
  { text, url }: { readonly text: string; readonly url: string },
  connection: ServiceConnection,
): Promise<MediaRequest> {
  const { language, modelId, speed, voiceId } = await speechOf(context, options, text, connection);
  return {
    video_url: url,
    text,
    reference_id: voiceId,
    model_id: modelId,
    speed,
    language,
    fit_audio_to_video: options.fit,
  };
}

async function speechOf(
  context: Context,
  options: DubCreateFlags,
  text: string,
  { client, target }: ServiceConnection,
) {
  const settings = await context.settings();
  const { language, model, speed } = options;
  return {
    voiceId: await namedVoice(context, options, client, target, text),
    modelId: resolveSetting(settings, 'model', model)?.value,
    speed: resolveSetting(settings, 'speed', speed)?.value,
    language: resolveSetting(settings, 'language', language)?.value,
  };
}

function lipSyncLine(
  { globals }: Context,
  { fit, output, video }: DubCreateFlags,
  audio: string,
): string {
  return [
    'foley lipsync create --video',
    quoted(video),
    '--audio',
    quoted(audio),
    // Speech that was not fitted may be longer than the video.
    ...(fit === true ? ['--extend'] : []),
    ...(output === undefined ? [] : ['-o', quoted(output)]),
    ...serviceFlags(globals),
  ].join(' ');
}
