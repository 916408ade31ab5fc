import { usageFailure } from '../errors/failure.ts';
import { closest } from '../text/did-you-mean.ts';
import { display } from '../text/display.ts';
import type { GuessedLanguage } from '../text/guess-language.ts';
import { guessLanguage } from '../text/guess-language.ts';

export interface NamedVoice {
  readonly voiceId: string;
  readonly name: string;
}

/** A voice with the languages (BCP 47) that it speaks. */
export interface ChosenVoice extends NamedVoice {
  readonly languages: readonly string[];
}

export interface VoiceChoiceOptions {
  /** The value of `--voice`: a voice id or, on the embedded service, an exact name. */
  readonly voice?: string | undefined;
  readonly voiceName?: string | undefined;
  /** The voice in `FOLEY_VOICE` or a config file: an id or a name, as for `--voice`. */
  readonly configuredVoice?: string | undefined;
  readonly target: 'embedded' | 'hosted';
  /** The language in `--language` or a config file. It selects a voice if the other options select none. */
  readonly language?: string | undefined;
  /** The text to speak, if it is known. */
  readonly text?: string | undefined;
  /** The name of the text in messages, such as `item 3`; default `the text`. */
  readonly textName?: string | undefined;
  /** Called with a sentence for stderr if the default voice does not speak the language. */
  readonly notice: (sentence: string) => void;
}

/** Lists all voices of the service, including personal voices. */
export type AllVoices = () => AsyncIterable<ChosenVoice>;

const MOST_CANDIDATES = 5;

const EMBEDDED_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Returns the id of the selected voice. If no voice is selected, the embedded service uses its first voice for the
 * language, or its first voice. Requests the list of voices only if the result depends on it.
 * @throws Failure of kind `usage` if no voice is available, if `--voice-name` is unknown, or if several voices have the
 * name
 */
export async function chooseVoice(
  options: VoiceChoiceOptions,
  allVoices: AllVoices,
): Promise<string> {
  const { voice, voiceName, configuredVoice, target } = options;
  if (voice === undefined && voiceName !== undefined) {
    const voices = await everyOne(allVoices);
    const named = voiceNamed('--voice-name', voiceName, voices);
    if (named === undefined) throw unknownName('--voice-name', voiceName, voices);
    return named;
  }
  const id = voice ?? configuredVoice;
  if (id !== undefined && (target === 'hosted' || EMBEDDED_ID.test(id))) return id;
  if (id !== undefined) {
    const voices = await everyOne(allVoices);
    if (voices.some(({ voiceId }) => voiceId === id)) return id;
    return voiceNamed(voice === undefined ? 'FOLEY_VOICE' : '--voice', id, voices) ?? id;
  }
  if (target === 'embedded') return defaultVoice(options, allVoices);
  throw usageFailure(
    'no voice is selected',
    'Select a voice with --voice, --voice-name or FOLEY_VOICE; `foley voices list` shows the voices.',
  );
}

/**
 * Finds a voice by its id. If no id matches, finds it by its full name, ignoring case. Returns the id of the voice.
 * @param where names the source of the voice in messages, such as a flag
 * @throws Failure of kind `usage` when no voice or several voices match
 */
export function findVoice(where: string, given: string, voices: readonly NamedVoice[]): string {
  if (voices.some(({ voiceId }) => voiceId === given)) return given;
  const named = voiceNamed(where, given, voices);
  if (named === undefined) throw unknownName(where, given, voices);
  return named;
}

async function defaultVoice(options: VoiceChoiceOptions, allVoices: AllVoices): Promise<string> {
  const { language, notice, textName } = options;
  const guess = language === undefined ? guessLanguage(options.text ?? '') : undefined;
  const isFirstEnough = language === undefined && guess === undefined;
  const voices = await (isFirstEnough ? firstOne(allVoices) : everyOne(allVoices));
  const [first] = voices;
  if (first === undefined) {
    throw usageFailure('the service has no voices', '`foley doctor` shows what is missing.');
  }
  const speaker = `the default voice ${describe(first)}`;
  if (guess !== undefined && !speaks(first, guess.code)) {
    const choose = `choose a voice with \`-l ${guess.code}\` or --voice`;
    notice(foreignText(textName, guess, speaker, choose, voices));
  }
  if (language === undefined) return first.voiceId;
  const found =
    voices.find(({ languages }) => languages.some((one) => isSameRegion(one, language))) ??
    voices.find((voice) => speaks(voice, language));
  if (found === undefined) {
    const shown = display(language, { max: 40 });
    notice(`foley: no voice speaks "${shown}", and ${speaker}: ${INSTALL}; ${listOf('CODE')}`);
  }
  return (found ?? first).voiceId;
}

/** A text and the id of the voice that the user chose for it. */
export interface CastText {
  /** The name of the text in messages. */
  readonly name: string;
  readonly text: string;
  readonly voiceId: string;
}

/**
 * Returns a sentence about the first text that looks like a language that its voice does not speak; undefined if there is
 * none.
 */
export function foreignCastText(
  texts: Iterable<CastText>,
  voices: readonly ChosenVoice[],
): string | undefined {
  const byId = new Map(voices.map((voice) => [voice.voiceId, voice]));
  for (const { name, text, voiceId } of texts) {
    const voice = byId.get(voiceId);
    const guess = voice === undefined ? undefined : guessLanguage(text);
    if (voice === undefined || guess === undefined || speaks(voice, guess.code)) continue;
    const choose = 'choose a voice with --voice or --cast';
    return foreignText(name, guess, `the voice ${describe(voice)}`, choose, voices);
  }
  return undefined;
}

function foreignText(
  name = 'the text',
  guess: GuessedLanguage,
  speaker: string,
  choose: string,
  voices: readonly ChosenVoice[],
): string {
  const isSpoken = voices.some((voice) => speaks(voice, guess.code));
  const what = isSpoken ? choose : `${INSTALL}; then ${choose}`;
  return `foley: ${name} looks ${guess.name}, but ${speaker}: ${what}; ${listOf(guess.code)}`;
}

function describe({ languages, name }: ChosenVoice): string {
  return `${display(name)} speaks ${languages.join(', ')}`;
}

async function firstOne(allVoices: AllVoices): Promise<ChosenVoice[]> {
  for await (const voice of allVoices()) return [voice];
  return [];
}

const INSTALL = '`foley engine add espeak-ng` adds 18 languages';

function listOf(code: string): string {
  return `\`foley voices list --language ${code}\` lists its voices`;
}

function speaks({ languages }: ChosenVoice, language: string): boolean {
  return languages.some((one) => isSameLanguage(one, language));
}

function isSameLanguage(one: string, other: string): boolean {
  return primarySubtag(one) === primarySubtag(other);
}

function isSameRegion(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase().replaceAll('_', '-');
}

function primarySubtag(language: string): string {
  return (language.split(/[-_]/)[0] ?? '').toLowerCase();
}

async function everyOne(allVoices: AllVoices): Promise<ChosenVoice[]> {
  const voices: ChosenVoice[] = [];
  for await (const voice of allVoices()) voices.push(voice);
  return voices;
}

function voiceNamed(flag: string, name: string, voices: readonly NamedVoice[]): string | undefined {
  const wanted = name.toLowerCase();
  const matches = voices.filter((voice) => voice.name.toLowerCase() === wanted);
  if (matches.length <= 1) return matches[0]?.voiceId;
  throw usageFailure(
    `${flag} is "${name}", and ${matches.length} voices have that name`,
    `Choose one by its id: --voice ${matches.map(({ voiceId }) => voiceId).join(' or --voice ')}`,
  );
}

function unknownName(flag: string, name: string, voices: readonly NamedVoice[]): Error {
  const names = [...new Set(voices.map((voice) => voice.name))];
  const near = closest(name, names, MOST_CANDIDATES);
  const shown = near.length > 0 ? near : names.slice(0, MOST_CANDIDATES);
  const more = names.length > shown.length ? ', …' : '';
  return usageFailure(
    `${flag} is "${name}", and no voice has that name`,
    near.length > 0
      ? `Did you mean ${near.join(', ')}?`
      : `Voices: ${shown.join(', ')}${more}; \`foley voices list --all\` shows them.`,
  );
}
