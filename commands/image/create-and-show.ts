import { extensionOf } from '../../src/audio/formats.ts';
import type { Context } from '../../src/cli/command.ts';
import type { MediaCreateFlags } from '../../src/cli/flags/media.ts';
import type { MediaTask } from '../../src/cli/media/create-media.ts';
import { createMedia } from '../../src/cli/media/create-media.ts';
import type { MediaPlace } from '../../src/cli/media/format.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import { automaticName } from '../../src/durable/names.ts';
import { openOutput } from '../../src/durable/publish.ts';
import { usageFailure } from '../../src/errors/failure.ts';

interface ShownImage {
  readonly flags: MediaCreateFlags;
  readonly prompt: string;
}

/**
 * Has a picture made and saved, under an automatic name unless it was given one, and shows it where a
 * person is looking.
 */
export async function createAndShow(
  context: Context,
  task: MediaTask,
  { flags, prompt }: ShownImage,
): Promise<CommandResult> {
  refuseUnshowable(context, flags);
  const named = flags.output === undefined ? await automaticPlace(context, prompt) : undefined;
  const { outcome, result } = await createMedia(
    context,
    named === undefined ? task : { ...task, place: named },
    flags,
  );
  const file = outcome.saved?.path;
  if (file === undefined) return result;
  await show(context, file);
  return { ...result, human: () => file };
}

function refuseUnshowable({ globals }: Context, { output }: MediaCreateFlags): void {
  if (globals.json !== true && output !== '-') return;
  throw usageFailure(
    `--preview shows a picture to a person, which ${output === '-' ? '-o -' : '--json'} does not`,
    'Keep one of them.',
  );
}

/** Opened as png, which most models make; what comes as something else is named so. */
async function automaticPlace(context: Context, prompt: string): Promise<MediaPlace> {
  const open = (extension: string) =>
    openOutput({ ...context, path: automaticName(prompt, extension), existing: 'number' });
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

/** On stderr where that is a terminal, since stdout is for the result. */
async function show({ env, files, io }: Context, file: string): Promise<void> {
  const { stderrIsTerminal, stdoutIsTerminal } = io;
  const look = stderrIsTerminal ? io.err : io.out;
  if (!stderrIsTerminal && !stdoutIsTerminal) {
    io.notice('foley: --preview shows the picture only on a terminal');
    return;
  }
  const [{ previewWay }, { drawPreview }, { PLAIN }] = await Promise.all([
    import('../../src/cli/render/preview.ts'),
    import('../../src/cli/render/preview.ts'),
    import('../../src/cli/render/style.ts'),
  ]);
  const way = previewWay(env, look.paint !== PLAIN);
  const picture = way && (await drawPreview(await files.readFile(file), way, look));
  if (picture === undefined) io.notice('foley: this terminal cannot show the picture');
  else if (stderrIsTerminal) io.progressStream.write(picture);
  else await io.writeOut(picture);
}
