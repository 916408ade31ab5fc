import { Option } from 'commander';
import type { VoiceForm } from '../../src/api/resources/voices.ts';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import type { IdFlags } from '../../src/cli/flags/speech.ts';
import { dryRunOption, idOptions, filled } from '../../src/cli/flags/speech.ts';
import type { VisibilityFlag } from '../../src/cli/flags/voices.ts';
import {
  each,
  languageCode,
  visibilityOption,
  madeVoiceNotice,
  madeVoiceResult,
} from '../../src/cli/flags/voices.ts';
import { openJournal } from '../../src/cli/journal.ts';
import type { Progress } from '../../src/cli/render/progress.ts';
import { startProgress } from '../../src/cli/render/progress.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import { REFERENCE_EXTENSIONS } from '../../src/contract/reference-audio.ts';
import type { CloneOrder } from '../../src/voices/create.ts';
import { checkRecordings } from '../../src/voices/recordings.ts';

interface VoicesCreateFlags extends VisibilityFlag, IdFlags {
  readonly description?: string;
  readonly referenceText?: string;
  readonly language?: readonly string[];
}

/** `foley voices create NAME FILE…` (docs/api/voices.md). */
export const voicesCreate: CommandDefinition<VoicesCreateFlags> = {
  configure(command) {
    command
      .description(
        'Creates a voice from recordings of a speaker, and prints its id. Checks every file before ' +
          'sending: it is readable, matches its extension, and has at most 10 MB.',
      )
      .argument('<name>', 'name of the voice')
      .argument('<file...>', `recordings: ${REFERENCE_EXTENSIONS.join(', ')}`)
      .addOption(textOption('--description <text>', 'description of the voice'))
      .addOption(textOption('--reference-text <text>', 'transcript of the recordings'))
      .addOption(visibilityOption())
      .addOption(
        new Option('--language <code>', 'language of the voice (may be repeated)').argParser(
          each(languageCode('--language')),
        ),
      );
    const ids = idOptions('sent, but no service documents that it has an effect here');
    for (const option of [...ids, dryRunOption()]) command.addOption(option);
    command.addHelpText('after', EXAMPLES);
  },
  async run(context, { args: [given = '', ...paths], options }) {
    const form = await readForm(context, filled('NAME')(given), paths, options);
    const boundary = `foley-${context.random.uuid()}`;
    if (options.dryRun === true) return describe(context, form, { boundary, options });
    return make(context, form, { boundary, options });
  },
};

const EXAMPLES = `
The speaker must have agreed to the recording being used.

Examples:
  $ foley voices create Ada ada.wav
  $ foley voices clone Ada ada-1.wav ada-2.wav --language en \\
      --reference-text "What Ada says."
  $ foley tts "Hello" -v "$(foley voices create Ada ada.wav)" -o hello.mp3`;

function textOption(flags: string, description: string): Option {
  const [flag = ''] = flags.split(' ');
  return new Option(flags, description).argParser(filled(flag));
}

async function readForm(
  { files, signal }: Context,
  name: string,
  paths: readonly string[],
  { description, language, referenceText, visibility }: VoicesCreateFlags,
): Promise<CloneOrder['form']> {
  const audioFiles = await checkRecordings(paths, files, signal);
  return { name, audioFiles, description, referenceText, visibility, languages: language };
}

interface Making {
  readonly boundary: string;
  readonly options: VoicesCreateFlags;
}

async function make(
  context: Context,
  form: CloneOrder['form'],
  { boundary, options: { idempotencyKey, requestId } }: Making,
): Promise<CommandResult> {
  const { io, signal } = context;
  const { client, target } = await context.connect();
  const { journal } = await openJournal(context);
  const { cloneVoice } = await import('../../src/voices/create.ts');
  const shown = uploadProgress(context);
  try {
    const voice = await cloneVoice({
      client,
      journal,
      form,
      boundary,
      options: { idempotencyKey, requestId, signal },
      onSent: (bytes, of) => shown.sent(bytes, of),
      notice: (line) => {
        shown.stop();
        io.notice(line);
      },
    });
    shown.stop();
    io.notice(madeVoiceNotice(voice, form.name));
    return madeVoiceResult(voice, target);
  } finally {
    shown.stop();
    await journal.close();
  }
}

/** Shows how much of an upload was sent, then that the service works on it; a retry sends again. */
function uploadProgress({ clock, io }: Context) {
  let shown: { readonly isSending: boolean; readonly progress: Progress } | undefined;
  return {
    sent(bytes: number, totalBytes: number): void {
      const isSending = bytes < totalBytes;
      const label = isSending ? 'sending' : 'the service makes the voice';
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

/** The request that would be sent, its files by name and size. */
async function describe(
  context: Context,
  form: VoiceForm,
  { boundary, options: { idempotencyKey, requestId } }: Making,
): Promise<CommandResult> {
  const { createVoiceRequest, voiceFields, voiceUpload } =
    await import('../../src/api/resources/voices.ts');
  const { client } = await context.connect();
  const request = createVoiceRequest(voiceUpload(form, boundary), { idempotencyKey, requestId });
  const { headers, method, url } = client.describe(request);
  const body = voiceFields(form).map((part) =>
    'value' in part
      ? part
      : {
          name: part.name,
          file: part.filename,
          contentType: part.contentType,
          bytes: part.byteLength,
        },
  );
  const { toJson } = await import('../../src/text/display.ts');
  const data = { method, url: url.href, headers, body };
  return { data, human: () => toJson(data, true) };
}
