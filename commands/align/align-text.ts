import { describeDuration } from '../../src/audio/verify.ts';
import type { Timings } from '../../src/captions/timings.ts';
import type { Context } from '../../src/cli/command.ts';
import { useAudioFile } from '../../src/cli/read-input.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import type { SpeechText } from '../../src/speech/speech-text.ts';
import { countCodePoints } from '../../src/text/code-points.ts';

/** The times of the words of a text in a recording. */
export interface AlignedText {
  readonly timings: Timings;
  readonly confidence: number;
  readonly placed: number;
  readonly words: number;
}

/**
 * Finds the words of a text in a recording.
 * @throws Failure of kind `usage` if the recording cannot be read, or is too short for the text
 */
export async function alignText(
  context: Context,
  {
    audio,
    language,
    speech: { spoken, text },
  }: {
    readonly audio: string;
    readonly language: string;
    readonly speech: SpeechText;
  },
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
