import type { VoiceForm } from '../../src/api/resources/voices.ts';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import type { DryRunFlag, IdFlags } from '../shared/flags/speech.ts';
import { dryRunOption, idOptions } from '../shared/flags/speech.ts';
import { addOptions, filled, listOption, textOption } from '../../src/cli/flags/values.ts';
import type { VisibilityFlag } from '../shared/flags/voices.ts';
import {
  languageCode,
  visibilityOption,
  madeVoiceNotice,
  madeVoiceResult,
} from '../shared/flags/voices.ts';
import { withJournal } from '../shared/journal.ts';
import type { Progress } from '../../src/cli/render/progress.ts';
import { startProgress } from '../../src/cli/render/progress.ts';
import type { CommandResult, RequestDocument } from '../../src/cli/render/result.ts';
import { REFERENCE_EXTENSIONS } from '../../src/contract/reference-audio.ts';
import type { CloneOrder } from '../../src/voices/create.ts';
import { checkRecordings } from '../../src/voices/recordings.ts';
import type { MadeVoiceDocument } from '../shared/flags/voices.ts';

interface VoicesCreateFlags extends VisibilityFlag, IdFlags, DryRunFlag {
  readonly description?: string;
  readonly referenceText?: string;
  readonly language?: readonly string[];
}

/** Defines the command `foley voices create NAME FILE…` (docs/api/voices.md). */
export const definition: CommandDefinition<VoicesCreateFlags, MadeVoiceDocument | RequestDocument> =
  {
    configure(command) {
      command
        .description(
          'Creates a voice from recordings of a speaker, and prints its id. Checks every file before ' +
            'sending: it is readable, matches its extension, and has at most 10 MB.',
        )
        .argument('<name>', 'name of the voice')
        .argument('<file...>', `recordings: ${REFERENCE_EXTENSIONS.join(', ')}`)
        .addHelpText('after', EXAMPLES);
      addOptions(command, [
        textOption('--description <text>', 'description of the voice'),
        textOption('--reference-text <text>', 'transcript of the recordings'),
        visibilityOption(),
        listOption('--language <code>', 'language of the voice', languageCode('--language')),
        ...idOptions('sent with the request, but no service documents its effect'),
        dryRunOption(),
      ]);
    },
    async run(context, { args: [given = '', ...paths], options }) {
      const name = filled('NAME')(given);
      const audioFiles = await checkRecordings(paths, context.system.files, context.signal);
      const { description, language, referenceText, visibility } = options;
      const languages = language && [...new Set(language)];
      const form = { name, audioFiles, description, referenceText, visibility, languages };
      const boundary = `foley-${context.system.random.uuid()}`;
      return options.dryRun === true
        ? describe(context, form, { boundary, options })
        : create(context, form, { boundary, options });
    },
  };

const EXAMPLES = `
The speaker must have agreed to the recording being used.

Examples:
  $ foley voices create Ada ada.wav
  $ foley voices clone Ada ada-1.wav ada-2.wav --language en \\
      --reference-text "What Ada says."
  $ foley tts "Hello" -v "$(foley voices create Ada ada.wav)" -o hello.mp3`;

interface Upload {
  readonly boundary: string;
  readonly options: VoicesCreateFlags;
}

async function create(
  context: Context,
  form: CloneOrder['form'],
  { boundary, options: { idempotencyKey, requestId } }: Upload,
): Promise<CommandResult<MadeVoiceDocument>> {
  const { client, target } = await context.connect();
  const { cloneVoice } = await import('../../src/voices/create.ts');
  const progress = uploadProgress(context);
  const options = { idempotencyKey, requestId, signal: context.signal };
  return withJournal(
    context,
    () => progress.stop(),
    async (tools) => {
      const onSent = progress.sent;
      const voice = await cloneVoice({ client, form, boundary, options, onSent, ...tools });
      tools.notice(madeVoiceNotice(voice, form.name));
      return madeVoiceResult(voice, target);
    },
  );
}

// A retry uploads again: the progress then starts over.
function uploadProgress({ system: { clock }, io }: Context) {
  let shown: { readonly isSending: boolean; readonly progress: Progress } | undefined;
  return {
    sent: (bytes: number, totalBytes: number): void => {
      const isSending = bytes < totalBytes;
      const label = isSending ? 'uploading' : 'creating the voice';
      if (shown?.isSending !== isSending) {
        shown?.progress.stop();
        const total = isSending ? { bytes: totalBytes } : undefined;
        shown = { isSending, progress: startProgress(io, clock, label, total) };
      }
      shown.progress.update(label, bytes);
    },
    stop: () => shown?.progress.stop(),
  };
}

async function describe(
  context: Context,
  form: VoiceForm,
  { boundary, options: { idempotencyKey, requestId } }: Upload,
): Promise<CommandResult<RequestDocument>> {
  const { createVoiceRequest, voiceFields, voiceUpload } =
    await import('../../src/api/resources/voices.ts');
  const { client } = await context.connect();
  const request = createVoiceRequest(voiceUpload(form, boundary), { idempotencyKey, requestId });
  const { headers, method, url } = client.describe(request);
  const body = voiceFields(form).map((part) => {
    if ('value' in part) return part;
    const { byteLength: bytes, contentType, filename: file, name } = part;
    return { name, file, contentType, bytes };
  });
  const { toJson } = await import('../../src/text/display.ts');
  const data = { method, url: url.href, headers, body };
  return { data, human: () => toJson(data, true) };
}
