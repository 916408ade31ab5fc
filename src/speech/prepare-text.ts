import { usageFailure } from '../errors/failure.ts';
import { display } from '../text/display.ts';
import type { SpokenText } from '../text/document.ts';
import type { Lexicon } from '../text/lexicon.ts';
import { SPEAKABLE } from '../text/parts.ts';
import { PAUSE_HINT, PauseError, readPauses } from '../text/pauses.ts';

/**
 * Reads the marks of pauses, and replaces the words of a lexicon.
 * @param where names the text, for messages
 * @throws Failure (usage) for an invalid mark, or a text of only pauses
 */
export function prepareText(
  source: SpokenText,
  where: string,
  { lexicon, pauses }: { readonly lexicon: Lexicon | undefined; readonly pauses: boolean },
): SpokenText {
  const paused = pauses ? withPauses(source, where) : source;
  const prepared = lexicon?.apply(paused) ?? paused;
  if (prepared.pauses.length === 0 || SPEAKABLE.test(prepared.text)) return prepared;
  throw usageFailure(`${display(where)} has only pauses`, 'Add some text to speak.');
}

function withPauses(source: SpokenText, where: string): SpokenText {
  try {
    return readPauses(source);
  } catch (error) {
    if (!(error instanceof PauseError)) throw error;
    const { column, line, message } = error;
    const place = `${display(where)}, line ${line}, column ${column}`;
    throw usageFailure(`${place}: ${display(message)}`, PAUSE_HINT);
  }
}
