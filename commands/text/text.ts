import { Option } from 'commander';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import { controlOptions, modelOption, pausesOption, textOptions } from '../shared/flags/speech.ts';
import { addOptions } from '../../src/cli/flags/values.ts';
import { chooseTextSource } from '../shared/choose-text-source.ts';
import { refuseSharedStdin } from '../shared/speech/plan.ts';
import { resolveSetting } from '../../src/config/settings.ts';
import type { SettingSources } from '../../src/config/settings.ts';
import { TEXT_MAX_CHARACTERS } from '../../src/contract/limits.ts';
import { abortable } from '../../src/system/concurrency.ts';
import { pronunciationsOf } from '../../src/speech/pronunciations.ts';
import type { SpokenTextFlags } from '../../src/speech/speech-text.ts';
import { readSpeech } from '../../src/speech/speech-text.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { CodePointSlicer, countCodePoints } from '../../src/text/code-points.ts';
import { counted } from '../../src/text/display.ts';
import { sectionsOf } from '../../src/text/chapters.ts';
import type { SpokenText } from '../../src/text/document.ts';
import { plainText, writtenEdits } from '../../src/text/document.ts';
import { splitParts } from '../../src/text/parts.ts';
import { splitAtPauses } from '../../src/text/pauses.ts';
import { readEnglish, readingRegion, spokenText } from '../../src/text/reading/english.ts';
import { splitSentences } from '../../src/text/sentences.ts';
import type { Pause } from '../../src/text/document.ts';

interface TextFlags extends SpokenTextFlags {
  readonly file?: string;
  readonly language?: string;
  readonly model?: string;
  readonly reading?: true;
}

/** Defines the command `foley text [TEXT…]`. */
export const definition: CommandDefinition<TextFlags, TextDocument> = {
  freeText: true,
  configure(command) {
    command
      .description(
        'Prints the text that `foley tts` would send, and on stderr the characters that would be billed, with ' +
          'an estimate of the credits from earlier charges of the model. Sends nothing.',
      )
      .argument('[text...]', 'text to speak');
    addOptions(command, [
      ...textOptions(),
      pausesOption(),
      modelOption('the setting model'),
      new Option('--reading', 'print how the built-in English voices read the text'),
      ...controlOptions(['language']),
    ]);
    command.addHelpText('after', EXAMPLES);
  },
  async run(context, { args, options }) {
    const { signal } = context;
    refuseSharedStdin(args, options.file, context.globals.apiKeyFile);
    const source = await chooseTextSource(context, args, options.file);
    const settings = await context.settings();
    const { spoken, text: sent } = await abortable(readSpeech(source, options, settings), signal);
    const { pauses, replaced } = spoken ?? plainText(sent);
    const requests =
      pauses.length === 0
        ? splitParts(sent, TEXT_MAX_CHARACTERS)
        : splitAtPauses({ pauses, text: sent }, TEXT_MAX_CHARACTERS).parts;
    const parts = requests.length;
    // White space at a pause is not sent.
    const sentTexts = pauses.length === 0 ? [sent] : requests.map((request) => request.text);
    const characters = sentTexts.reduce((sum, one) => sum + countCodePoints(one), 0);
    const lengths = requests.map((request) => countCodePoints(request.text));
    const credits = await estimatedCredits(context, lengths, { model: options.model, settings });
    const language = resolveSetting(settings, 'language', options.language)?.value;
    const reading = options.reading === true ? readingOf(sent, language) : undefined;
    const written = spoken === undefined ? [] : writtenEdits(spoken);
    const said = new CodePointSlicer(sent);
    return {
      data: {
        text: sent,
        characters,
        parts,
        estimatedCredits: credits ?? null,
        pauses,
        replaced: replaced.map(({ spoken: { end, start } }, index) => ({
          written: written[index]?.insert ?? '',
          spoken: said.slice(start, end),
          at: start,
        })),
        ...pronunciationsOf(spoken),
        ...chaptersOf(spoken, options),
        ...(reading === undefined ? {} : { reading }),
      },
      human: () => reading?.join('\n') ?? sent,
      notice: `${counted(characters, 'character')} to bill, in ${counted(parts, 'request')}; ${
        credits === undefined
          ? 'price unknown until the first charge'
          : `about ${counted(credits, 'credit')} (estimate from earlier charges)`
      }`,
    };
  },
};

// Chapters have the numbers that --only-chapters takes. Without all chapters, the numbers are unknown.
function chaptersOf(
  spoken: SpokenText | undefined,
  { onlyChapters, skipFrontMatter }: TextFlags,
): { readonly chapters?: readonly TextChapter[] } {
  if (spoken === undefined || onlyChapters !== undefined || skipFrontMatter === true) return {};
  const chapters = sectionsOf([spoken]).flatMap(({ number, text, title }) =>
    title === undefined ? [] : [{ number, title, characters: countCodePoints(text.text) }],
  );
  return chapters.length === 0 ? {} : { chapters };
}

/** The text that would be sent and billed. */
export interface TextDocument {
  readonly text: string;
  /** Number of characters to bill. */
  readonly characters: number;
  /** Number of requests. */
  readonly parts: number;
  /** An estimate from earlier charges; null without any. */
  readonly estimatedCredits: number | null;
  /** The silences and changes of the voice in the text. */
  readonly pauses: readonly Pause[];
  /** The words that are spoken otherwise than they are written. */
  readonly replaced: readonly ReplacedText[];
  /** The pronunciations that are sent with the text. */
  readonly pronunciations?: readonly SpokenPronunciation[];
  /** The chapters of a document, with the numbers that `--only-chapters` takes. */
  readonly chapters?: readonly TextChapter[];
  /** With `--reading`: the sentences as the built-in voices read them. */
  readonly reading?: readonly string[];
}

interface SpokenPronunciation {
  /** A word or phrase of the text. */
  readonly word: string;
  /** Its sounds in the International Phonetic Alphabet. */
  readonly phonemes: string;
}

interface ReplacedText {
  readonly written: string;
  readonly spoken: string;
  /** Position in `text`. */
  readonly at: number;
}

interface TextChapter {
  readonly number: number;
  readonly title: string;
  readonly characters: number;
}

const EXAMPLES = `
Examples:
  $ foley text -f README.md
  $ foley text -f book.epub --json
  $ foley text -f book.epub --only-chapters 1-3,7
  $ foley text --reading "Meet me on 3/15/2024 at 5:30 pm."`;

/**
 * Estimates the credits that texts of these lengths cost, from earlier charges: those of the chosen model; without one,
 * those of the voice, or else of any voice. Returns undefined if there are none, or if no service is chosen.
 */
async function estimatedCredits(
  context: Context,
  lengths: readonly number[],
  { model, settings }: { readonly model: string | undefined; readonly settings: SettingSources },
): Promise<number | undefined> {
  const voice = resolveSetting(settings, 'voice')?.value;
  const chosen = resolveSetting(settings, 'model', model)?.value;
  const [{ findTarget }, { creditRates }, credit] = await Promise.all([
    import('../../src/cli/connect.ts'),
    import('../shared/journal.ts'),
    import('../../src/speech/credit-rates.ts'),
  ]);
  // This command needs no service, so a missing choice is no error.
  const target = await findTarget(context).catch(() => undefined);
  if (target === undefined) return undefined;
  const service = target.kind === 'hosted' ? target.address.baseUrl.origin : 'embedded';
  const rates = await creditRates(context);
  let charges = await rates.seen({ service, model: credit.modelOf(chosen, voice ?? '') });
  // The setting may be the name of a voice, whose id only the service knows.
  if (charges.length === 0 && chosen === undefined) {
    charges = await rates.seen({ service, model: credit.ANY_DEFAULT_MODEL });
  }
  if (charges.length === 0) return undefined;
  return lengths.reduce((sum, length) => sum + (credit.estimateCredits(charges, length) ?? 0), 0);
}

// The built-in voices have readings for English only.
function readingOf(sent: string, language = 'en-US'): readonly string[] {
  const region = readingRegion(language);
  if (region === undefined) {
    throw usageFailure(
      `--reading works with English only: the language is "${language}"`,
      'Name a region of English, such as --language en-GB.',
    );
  }
  return splitSentences(sent)
    .map(({ text: sentence }) => spokenText(sentence, readEnglish(sentence, { region })))
    .map((sentence) => sentence.replaceAll(/\s+/g, ' ').trim())
    .filter((sentence) => sentence !== '');
}
