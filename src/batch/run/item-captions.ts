import type { CaptionFiles, CaptionFormat } from '../../captions/caption-files.ts';
import type { Timings } from '../../captions/timings.ts';
import { timingsOf } from '../../captions/timings.ts';
import { writtenWords } from '../../captions/written-words.ts';
import type { WordTimes } from '../../paid/speakers/aligned-transport.ts';
import { plainText } from '../../text/document.ts';
import type { BatchItem } from '../plan/plan.ts';
import type { CaptionOptions } from './batch-options.ts';
import type { OutputFolders } from './publish-audio.ts';

/** Returns the names of an output's caption files, such as `a.srt` for `a.mp3`. */
export function captionNames(output: string, formats: readonly CaptionFormat[]): readonly string[] {
  return formats.map(
    (format) => `${output.replace(/\.(?:mp3|wave?|og[ga]|opus|flac|m4[ab])$/i, '')}.${format}`,
  );
}

/**
 * Opens the caption files of an item before anything is billed.
 * @throws Failure of kind `output`
 */
export async function openItemCaptions(
  file: string,
  captions: CaptionOptions,
  folders: OutputFolders,
): Promise<CaptionFiles> {
  const { system, temporaries: temporaryFolder } = folders;
  const targets = captions.formats.map((format) => {
    const [name = file] = captionNames(file, [format]);
    return { format, path: name, assStyle: captions.assStyle };
  });
  await folders.useFor(file);
  const { openCaptionFiles } = await import('../../captions/caption-files.ts');
  // A running item finishes after a stop signal, so that its paid audio is not lost.
  return openCaptionFiles({ system, targets, temporaryFolder, signal: undefined });
}

/** Returns the word timings of an item. The words are spelled as in the input text. */
export function timingsOfItem({ order, spoken }: BatchItem, speech: WordTimes): Timings {
  const source = spoken ?? plainText(order.text);
  const { durationMs, isComplete: complete } = speech;
  const words = writtenWords(source, speech.words);
  return timingsOf({ text: source.written, durationMs, complete, words });
}
