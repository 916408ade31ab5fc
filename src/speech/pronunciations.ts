import type { ApiClient } from '../api/client.ts';
import type { SpeechOrder } from '../api/resources/speech.ts';
import { getVoice } from '../api/resources/voices.ts';
import type { Pronunciation } from '../contract/speech.ts';
import type { Failure } from '../errors/failure.ts';
import { usageFailure } from '../errors/failure.ts';
import { display } from '../text/display.ts';
import type { SpokenText } from '../text/document.ts';
import { foreignSign } from '../text/phonemes.ts';

/** Returns the field of a speech request for the phonemes of a text; no field if the text has none. */
export function pronunciationsOf(
  spoken: SpokenText | undefined,
): Pick<SpeechOrder, 'pronunciations'> {
  const { pronunciations } = spoken ?? {};
  return pronunciations === undefined ? {} : { pronunciations };
}

/**
 * Collects the phonemes of several texts by voice. Each word counts once.
 */
export class PronunciationsByVoice {
  readonly #voices = new Map<string, Map<string, Pronunciation>>();

  add({ pronunciations = [], voiceId }: SpeechOrder): void {
    if (pronunciations.length === 0) return;
    const words = this.#voices.get(voiceId) ?? new Map<string, Pronunciation>();
    for (const one of pronunciations) words.set(one.word, one);
    this.#voices.set(voiceId, words);
  }

  /** Checks each voice as {@link checkPronunciations} does. @throws Failure */
  async check(
    client: ApiClient,
    voiceIdOf: (voiceId: string) => string,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    for (const [voiceId, words] of this.#voices) {
      await checkPronunciations(client, voiceIdOf(voiceId), [...words.values()], signal);
    }
  }
}

/**
 * Checks that a voice speaks phonemes, and has a sound for each sign. Requests the voice from the service.
 * @throws Failure of kind `usage` that names the entry of the lexicon; failures of the request
 */
export async function checkPronunciations(
  client: ApiClient,
  voiceId: string,
  pronunciations: readonly Pronunciation[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const [first] = pronunciations;
  if (first === undefined) return;
  const { name, phonemes: signs } = (await getVoice(client, voiceId, signal)).value;
  if (signs === undefined) throw phonemesFailure(first, `the voice ${display(name)}`);
  for (const entry of pronunciations) {
    const sign = foreignSign(entry.phonemes, signs);
    if (sign === undefined) continue;
    throw usageFailure(
      `${describeEntry(entry)}, but the voice ${display(name)} has no sound for "${display(sign)}"`,
      `The voice speaks these signs: ${display(signs, { max: 200 })}`,
    );
  }
}

/**
 * Refuses a text with phonemes. For commands and services that cannot speak them.
 * @param by what cannot speak them, such as `foley dub create`
 * @throws Failure of kind `usage` that names the entry of the lexicon
 */
export function refusePronunciations(spoken: SpokenText | undefined, by: string): void {
  const [first] = spoken?.pronunciations ?? [];
  if (first !== undefined) throw phonemesFailure(first, by);
}

function phonemesFailure(entry: Pronunciation, by: string): Failure {
  return usageFailure(
    `${describeEntry(entry)}, but ${by} speaks no phonemes`,
    'Write how the word sounds in ordinary letters, such as tuh-MAH-toe, or choose another voice: `foley voices get ID` shows whether a voice speaks phonemes.',
  );
}

function describeEntry({ phonemes, word }: Pronunciation): string {
  const shown = display(phonemes, { max: 60 });
  return `the lexicon entry "${display(word, { max: 40 })}" has the phonemes /${shown}/`;
}
