import { Argument } from 'commander';
import type { CaptionFiles, WrittenCaptions } from '../../src/captions/caption-files.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import {
  addCueFlags,
  planCaptions,
  subtitlesOption,
  timingsOption,
} from '../shared/flags/captions.ts';
import { controlOptions, textOptions } from '../shared/flags/speech.ts';
import { addOptions, textOption } from '../../src/cli/flags/values.ts';
import { overlayOption } from '../shared/read-along.ts';
import { refuseSharedStdin } from '../shared/speech/plan.ts';
import { resolveSetting } from '../../src/config/settings.ts';
import { abortable } from '../../src/system/concurrency.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { refusePronunciations } from '../../src/speech/pronunciations.ts';
import { readSpeech } from '../../src/speech/speech-text.ts';
import { counted } from '../../src/text/display.ts';
import { alignText } from './align-text.ts';
import type { AlignFlags } from './flags.ts';
import { BOOK_USAGE } from './flags.ts';
import type { CaptionsDocument } from '../shared/speech/captions.ts';
import type { TimingsDocument } from '../../src/captions/timings.ts';
import type { ReadAlongDocument } from '../shared/read-along.ts';

/** How many words were found in the recording. */
interface AlignSummary {
  /** Mean confidence, from 0 to 1. */
  readonly confidence: number;
  /** Number of words that were found. */
  readonly placed: number;
  /** Number of words of the text. */
  readonly total: number;
}

/** The word times of a recording, if no files are named. */
interface AlignedTimings extends TimingsDocument, AlignSummary {}

/** The caption files of a recording. */
interface AlignedCaptions extends CaptionsDocument, AlignSummary {
  /** The recording. */
  readonly audio: string;
  readonly durationMs: number;
}

export type AlignDocument = AlignedTimings | AlignedCaptions | ReadAlongDocument;

/** Defines the command `foley align AUDIO -f TEXT`. */
export const definition: CommandDefinition<AlignFlags, AlignDocument> = {
  configure(command) {
    command
      .description(
        'Finds when each word of a text is said in a recording, and writes word times and subtitles. ' +
          'Also makes a read-along book from an EPUB book and its recordings. Works offline: sends nothing and costs nothing. A word that is not found has null times, and ' +
          'the exit code is 3.',
      )
      .addArgument(
        new Argument(
          '[audio]',
          'recording: wav, mp3, flac, ogg, opus, m4a, mp4, aac, webm or mpeg',
        ),
      );
    addOptions(command, [
      ...textOptions(),
      ...controlOptions(['language']),
      subtitlesOption(),
      timingsOption(),
      textOption('--epub <book>', 'make a read-along book from this EPUB and recordings'),
      textOption('--audio <dir>', 'folder with a recording for each spoken document of the book'),
      textOption('-o, --output <path>', 'the read-along book: .epub'),
      overlayOption(),
    ]);
    addCueFlags(command);
    command.addHelpText('after', EXAMPLES);
  },
  async run(context, { args: [audio], options }) {
    if (options.epub !== undefined) {
      const { alignBook } = await import('./align-book.ts');
      return alignBook(context, options.epub, audio, options);
    }
    const { recording, textFile } = checkFlags(audio, options);
    refuseSharedStdin([], textFile, context.globals.apiKeyFile);
    const settings = await context.settings();
    const { io, signal } = context;
    const plan = await planCaptions(options, settings, context);
    const language = resolveSetting(settings, 'language', options.language)?.value ?? 'en';
    const source = { ...io, system: context.system, signal, args: [], file: textFile };
    const speech = await abortable(readSpeech(source, options, settings), signal);
    refusePronunciations(speech.spoken, '`foley align`');
    const { captionFileDocument, openCaptionFiles } =
      await import('../../src/captions/caption-files.ts');
    const open = (isTimings: boolean): Promise<CaptionFiles> => {
      const targets = plan?.targets ?? [];
      const own = targets.filter(({ format }) => (format === 'json') === isTimings);
      return openCaptionFiles({ system: context.system, signal: context.signal, targets: own });
    };
    const files = await open(true);
    const subtitles = await open(false).catch(async (error: unknown) => {
      await files.abandon();
      throw error;
    });
    try {
      const { confidence, placed, timings, words } = await alignText(context, {
        audio: recording,
        language,
        speech,
      });
      const isUsable = placed * 2 >= words && placed > 0;
      const written: WrittenCaptions[] = [];
      for (const each of isUsable ? [files, subtitles] : [files]) {
        if (plan === undefined) continue;
        await each.prepare({ timings, shape: plan.shape });
        written.push(...(await each.publish()));
      }
      const { warnOfViolations } = await import('../../src/captions/violations.ts');
      warnOfViolations(written, (sentence) => io.warn(sentence));
      for (const { cues, path: file } of written) {
        io.notice(`${file}: ${cues === undefined ? 'word times' : counted(cues, 'cue')}`);
      }
      const { describeMissing } = await import('../../src/captions/missing-text.ts');
      const missing = describeMissing(timings);
      if (missing !== undefined)
        io.warn(`foley: ${missing}; ${isUsable ? INCOMPLETE : OTHER_TEXT}`);
      const { timingsDocument, timingsFile } = await import('../../src/captions/timings.ts');
      const summary = { confidence, placed, total: words };
      const items = written.map(captionFileDocument);
      return {
        data:
          plan === undefined
            ? { ...timingsDocument(timings), ...summary }
            : {
                audio: recording,
                items,
                complete: timings.complete,
                durationMs: timings.durationMs,
                ...summary,
              },
        human: () => (plan === undefined ? timingsFile(timings) : ''),
        notice: `${placed} of ${counted(words, 'word')} found, mean confidence ${confidence.toFixed(2)}`,
        ...(timings.complete ? {} : { exit: 'partial' as const }),
      };
    } finally {
      await files.abandon();
      await subtitles.abandon();
    }
  },
};

function checkFlags(
  recording: string | undefined,
  options: AlignFlags,
): { readonly recording: string; readonly textFile: string } {
  const { file: textFile } = options;
  const bookFlag = (['audio', 'output', 'overlay'] as const).find(
    (name) => options[name] !== undefined,
  );
  if (bookFlag !== undefined) throw usageFailure(`--${bookFlag} requires --epub`, BOOK_USAGE);
  if (recording === undefined) {
    throw usageFailure('AUDIO is required', 'Name the recording: foley align AUDIO -f text.txt');
  }
  if (textFile === undefined) {
    throw usageFailure('--file is required', 'Name the text: foley align AUDIO -f text.txt');
  }
  return { recording, textFile };
}

const EXAMPLES = `
Examples:
  $ foley align talk.wav -f talk.txt --subtitles talk.srt
  $ foley align talk.wav -f talk.txt --subtitles talk.vtt --cue-by word
  $ foley align talk.wav -f talk.txt --timings talk.json
  $ foley align talk.wav -f talk.txt > talk.json
  $ foley align --epub book.epub --audio recordings -o read-along.epub`;

const INCOMPLETE =
  'subtitles show them between their neighbours, and leave out sentences for which the recording has no time';
const OTHER_TEXT =
  'less than half of the words were found, so no subtitles are written; is this the text of the recording?';
