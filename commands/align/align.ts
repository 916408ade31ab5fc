import { Argument } from 'commander';
import { describeDuration } from '../../src/audio/verify.ts';
import type { CaptionFiles, WrittenCaptions } from '../../src/captions/caption-files.ts';
import type { Timings } from '../../src/captions/timings.ts';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import type { CaptionFlags } from '../shared/flags/captions.ts';
import {
  addCueFlags,
  planCaptions,
  subtitlesOption,
  timingsOption,
} from '../shared/flags/captions.ts';
import { controlOptions, textOptions } from '../shared/flags/speech.ts';
import { addOptions } from '../../src/cli/flags/values.ts';
import { useAudioFile } from '../../src/cli/read-input.ts';
import { refuseSharedStdin } from '../shared/speech/plan.ts';
import { resolveSetting } from '../../src/config/settings.ts';
import { abortable } from '../../src/effects/concurrency.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import type { SpeechText, SpokenTextFlags } from '../../src/speech/speech-text.ts';
import { refusePronunciations } from '../../src/speech/pronunciations.ts';
import { readSpeech } from '../../src/speech/speech-text.ts';
import { countCodePoints } from '../../src/text/code-points.ts';
import { counted } from '../../src/text/display.ts';

interface AlignFlags extends CaptionFlags, SpokenTextFlags {
  readonly file?: string;
  readonly language?: string;
}

/** Defines the command `foley align AUDIO -f TEXT`. */
export const definition: CommandDefinition<AlignFlags> = {
  configure(command) {
    command
      .description(
        'Finds when each word of a text is said in a recording, and writes word times and subtitles. ' +
          'Works offline: sends nothing and costs nothing. A word that is not found has null times, and ' +
          'the exit code is 3.',
      )
      .addArgument(
        new Argument(
          '<audio>',
          'recording: wav, mp3, flac, ogg, opus, m4a, mp4, aac, webm or mpeg',
        ),
      );
    addOptions(command, [
      ...textOptions(),
      ...controlOptions(['language']),
      subtitlesOption(),
      timingsOption(),
    ]);
    addCueFlags(command);
    command.addHelpText('after', EXAMPLES);
  },
  async run(context, { args: [audio = ''], options }) {
    if (options.file === undefined) {
      throw usageFailure('--file is required', 'Name the text: foley align AUDIO -f text.txt');
    }
    refuseSharedStdin([], options.file, context.globals.apiKeyFile);
    const settings = await context.settings();
    const { io, signal } = context;
    const plan = await planCaptions(options, settings, context);
    const language = resolveSetting(settings, 'language', options.language)?.value ?? 'en';
    const source = { ...io, ...context, args: [], file: options.file };
    const speech = await abortable(readSpeech(source, options, settings), signal);
    refusePronunciations(speech.spoken, '`foley align`');
    const { openCaptionFiles } = await import('../../src/captions/caption-files.ts');
    const open = (isTimings: boolean): Promise<CaptionFiles> => {
      const targets = plan?.targets ?? [];
      const own = targets.filter(({ format }) => (format === 'json') === isTimings);
      return openCaptionFiles({ ...context, targets: own });
    };
    const files = await open(true);
    const subtitles = await open(false).catch(async (error: unknown) => {
      await files.abandon();
      throw error;
    });
    try {
      const { confidence, placed, timings, words } = await alignText(context, {
        audio,
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
      const items = written.map(({ path: output, format, cues, violations }) => {
        return { output, format, cues, violations };
      });
      return {
        data:
          plan === undefined
            ? { ...timingsDocument(timings), ...summary }
            : {
                audio,
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

const EXAMPLES = `
Examples:
  $ foley align talk.wav -f talk.txt --subtitles talk.srt
  $ foley align talk.wav -f talk.txt --subtitles talk.vtt --cue-by word
  $ foley align talk.wav -f talk.txt --timings talk.json
  $ foley align talk.wav -f talk.txt > talk.json`;

const INCOMPLETE =
  'subtitles show them between their neighbours, and leave out sentences for which the recording has no time';
const OTHER_TEXT =
  'less than half of the words were found, so no subtitles are written; is this the text of the recording?';

interface AlignedText {
  readonly timings: Timings;
  readonly confidence: number;
  readonly placed: number;
  readonly words: number;
}

async function alignText(
  context: Context,
  {
    audio,
    language,
    speech: { spoken, text },
  }: { readonly audio: string; readonly language: string; readonly speech: SpeechText },
): Promise<AlignedText> {
  const { openReferenceSpeaker, timingsOfWords } = await import('../shared/speech/align-text.ts');
  const speaker = await openReferenceSpeaker(context);
  try {
    const [{ alignWords }, { meanConfidence, textWords }, { durationMs, energies }, reference] =
      await Promise.all([
        import('../../src/alignment/align-words.ts'),
        import('../../src/alignment/text-words.ts'),
        measureAudio(context, audio).then((sound) => {
          requireFittingText(text, sound.durationMs);
          return sound;
        }),
        speaker.speak({ text, language }, context.signal),
      ]);
    const places = await alignWords(energies, reference, context.signal);
    const words = textWords(text, reference.words, places);
    const timings = timingsOfWords(text, spoken, { durationMs, words });
    const confidence = Math.round(meanConfidence(words) * 1000) / 1000;
    const placed = timings.words.length;
    return { timings, confidence, placed, words: placed + (timings.unplaced?.length ?? 0) };
  } finally {
    await speaker.close();
  }
}

// Nobody says more in a second, but the recording may leave out parts of the text.
const MOST_CHARACTERS_A_SECOND = 60;
const MOST_LEFT_OUT_CHARACTERS = 20_000;

/**
 * Checks that a recording can contain a text. Aligning needs time and memory for all of the text.
 * @throws Failure of kind `usage` for a text that is too long
 */
function requireFittingText(text: string, durationMs: number): void {
  const most = Math.floor(
    MOST_LEFT_OUT_CHARACTERS + (durationMs / 1000) * MOST_CHARACTERS_A_SECOND,
  );
  const characters = countCodePoints(text);
  if (characters <= most) return;
  throw usageFailure(
    `the text has ${characters} characters, too many for a recording of ${describeDuration(durationMs)}: use at most ${most}`,
    'Name the part of the text that the recording contains.',
  );
}

async function measureAudio(context: Context, audio: string) {
  const { measureRecording } = await import('../../src/alignment/measure-sound.ts');
  return useAudioFile(audio, context, (file) => measureRecording(file, context.signal));
}
