import type { TextWord } from '../../../src/alignment/text-words.ts';
import type { Timings } from '../../../src/captions/timings.ts';
import { timingsOf } from '../../../src/captions/timings.ts';
import { writtenWords } from '../../../src/captions/written-words.ts';
import { ReferenceSpeaker } from '../../../src/engines/reference-speech.ts';
import { loadEngineRegistrations, registrationsFile } from '../../../src/engines/registrations.ts';
import type { SpokenText } from '../../../src/text/document.ts';
import type { Context } from '../../../src/cli/command.ts';

/**
 * Creates a speaker that speaks a text, so that this speech can be compared with a recording. The caller must close the
 * speaker.
 */
export async function openReferenceSpeaker(context: Context): Promise<ReferenceSpeaker> {
  const { engines } = await context.paths();
  const added = await loadEngineRegistrations(context.system.files, registrationsFile(engines));
  return new ReferenceSpeaker({ clock: context.system.clock, env: context.env, added });
}

/**
 * Creates timings from the words of a text and their times in a recording.
 * @param spoken the document that the text comes from. If it is given, the timings contain the words of the document.
 * @param words the words of the text; words without times are listed as not found
 */
export function timingsOfWords(
  text: string,
  spoken: SpokenText | undefined,
  { durationMs, words }: { readonly durationMs: number; readonly words: readonly TextWord[] },
): Timings {
  const all = words.map(({ endMs = UNPLACED, startMs = UNPLACED, text: word }) => {
    return { text: word, startMs, endMs };
  });
  const timed: { text: string; startMs: number; endMs: number }[] = [];
  const unplaced: { text: string; index: number }[] = [];
  for (const word of spoken === undefined ? all : writtenWords(spoken, all)) {
    if (word.startMs >= 0 && word.endMs >= 0) timed.push(word);
    else unplaced.push({ text: word.text, index: timed.length });
  }
  return timingsOf({
    text: spoken?.written ?? text,
    durationMs,
    complete: unplaced.length === 0,
    words: timed,
    ...(unplaced.length === 0 ? {} : { unplaced }),
  });
}

// The time of a word that was not found in the audio.
const UNPLACED = -1;
