import type { Command } from 'commander';
import { Option } from 'commander';
import type { ChoiceParser } from '../../../src/cli/flags/values.ts';
import {
  addOptions,
  choiceOption,
  filled,
  listOption,
  numberOption,
  textOption,
  textWithin,
  withSetting,
} from '../../../src/cli/flags/values.ts';
import type { AudioFormat, FileFormat } from '../../../src/contract/values.ts';
import { FILE_FORMATS } from '../../../src/contract/values.ts';
import type { ControlName } from '../../../src/contract/generated/speech-controls.ts';
import { SPEECH_CONTROLS } from '../../../src/contract/generated/speech-controls.ts';
import type { SpeechControls } from '../../../src/contract/speech.ts';
import { usageFailure } from '../../../src/errors/failure.ts';
import type { SettingSources } from '../../../src/config/settings.ts';
import { flagName, resolveSetting } from '../../../src/config/settings.ts';
import { nearestHint } from '../../../src/text/did-you-mean.ts';
import type { NumberRange } from '../../../src/text/chapters.ts';
import type { TextFormat } from '../../../src/text/formats/text-formats.ts';
import {
  CODE_MODES,
  documentFormat,
  hasChapters,
  TEXT_FORMATS,
} from '../../../src/text/formats/text-formats.ts';
import { isHeaderValue } from '../../../src/api/request.ts';
import { IDEMPOTENCY_KEY_MAX_CHARACTERS } from '../../../src/contract/limits.ts';
import type { VoiceFlags } from './voices.ts';

/** The flags that select a voice, a model and the speech controls. */
export interface SpeakerFlags extends SpeechControls, VoiceFlags {
  readonly model?: string;
}

export interface SpeechFlags extends SpeakerFlags {
  readonly format?: AudioFormat | FileFormat;
  readonly outputFormat?: AudioFormat | FileFormat;
}

const SHORT_NAMES: Partial<Record<ControlName, string>> = { language: '-l' };

/**
 * Adds the flags for voice, model, format and speech controls to a command.
 * @param options `formats` and `usual`: the allowed formats and the default format, as the help shows them
 */
export function addSpeechFlags(
  command: Command,
  {
    formats = FILE_FORMATS.join(', '),
    usual = 'from the extension of --output, else mp3',
  }: { readonly formats?: string; readonly usual?: string } = {},
): void {
  addOptions(command, [
    ...voiceOptions(),
    modelOption(),
    withSetting(
      new Option('--format <format>', `${formats} (default: ${usual})`).argParser(
        speechFormat('--format'),
      ),
      'format',
    ),
    new Option('--output-format <format>', 'alias of --format')
      .argParser(speechFormat('--output-format'))
      .conflicts('format')
      .hideHelp(),
    ...controlOptions(),
  ]);
}

/** Creates the flags for the text to speak and the format of this text. */
export function textOptions(formats: readonly TextFormat[] = TEXT_FORMATS): Option[] {
  return [
    new Option('-f, --file <path>', 'read the text from a file; - is stdin'),
    ...documentOptions(formats),
  ];
}

/** Creates the flag `--pauses`. */
export function pausesOption(): Option {
  return new Option('--pauses', 'read [pause 800ms] and [pause 1.5s] in the text as silence');
}

/** Creates the flags for the format of a text and the pronunciation of its words. */
export function documentOptions(formats: readonly TextFormat[] = TEXT_FORMATS): Option[] {
  const usual = `${formats.includes('auto') ? 'auto: ' : ''}by the extension of the file`;
  return [
    choiceOption(
      '--text-format <format>',
      `format of the text: ${formats.join(', ')} (default: ${usual})`,
      formats,
      (given) => documentFormat('auto', `.${given}`),
    ),
    choiceOption(
      '--code <mode>',
      'read, skip or announce the code blocks of a document (default: skip)',
      CODE_MODES,
    ),
    ...(formats.some(hasChapters) ? chapterOptions() : []),
    ...(formats.includes('subtitles') ? [dropSoundsOption()] : []),
    lexiconOption(),
  ];
}

/** Creates the flags that choose the chapters of a document. */
export function chapterOptions(): Option[] {
  return [
    new Option(
      '--only-chapters <list>',
      'read only these chapters of a document, such as 1-3,7',
    ).argParser(chapterNumbers),
    new Option(
      '--skip-front-matter',
      'leave out the text before the main text of a document, such as a title page',
    ),
  ];
}

function chapterNumbers(given: string): readonly NumberRange[] {
  const ranges = given.split(',').map((range) => {
    const [, first, last = first] = /^ *(\d{1,6})(?: *- *(\d{1,6}))? *$/.exec(range) ?? [];
    return { first: Number(first), last: Number(last) };
  });
  if (ranges.every(({ first, last }) => first >= 1 && first <= last)) return ranges;
  throw usageFailure(
    `--only-chapters is "${given}"; it takes numbers from 1 and ranges, such as 1-3,7`,
    '`foley text -f FILE --json` lists the chapters of a document.',
  );
}

/** Creates the flag `--drop-sounds`. */
export function dropSoundsOption(): Option {
  return new Option('--drop-sounds', 'leave [MUSIC], (sighs) and sung lyrics out of subtitles');
}

/** Creates the flag for a pronunciation lexicon. */
export function lexiconOption(): Option {
  const description = 'file with pronunciations: TSV or CSV (written, spoken), or PLS';
  const option = listOption('--lexicon <file>', description, filled('--lexicon'));
  return withSetting(option, 'lexicon');
}

/** Creates the flags for the text and the audio output, which `foley tts` and `foley live` share. */
export function outputOptions(formats?: readonly TextFormat[]): Option[] {
  return [
    ...textOptions(formats),
    new Option('-o, --output <path>', 'write the audio to a file; - is stdout'),
    new Option('--no-clobber', 'do not replace an existing file (exit code 31)'),
    new Option('--play', 'play the audio; without -o no file is written'),
    textOption('--player <command>', 'player program that reads stdin'),
  ];
}

/** Creates the flags that select a voice. */
export function voiceOptions(): Option[] {
  return [
    withSetting(textOption('-v, --voice <id>', 'voice id'), 'voice'),
    textOption('--voice-name <name>', 'exact voice name, case-insensitive').conflicts('voice'),
  ];
}

/** Creates the flag `--model`. */
export function modelOption(usual = 'the voice’s default model'): Option {
  return withSetting(textOption('-m, --model <id>', `model id (default: ${usual})`), 'model');
}

/** Returns the speech controls to send. Flags override configured values. */
export function controlsToSend(flags: SpeechControls, settings: SettingSources): SpeechControls {
  const given: SpeechControls = Object.fromEntries(
    Object.entries(flags).filter(([name]) => name in SPEECH_CONTROLS),
  );
  const configured: SpeechControls = Object.fromEntries(
    CONFIGURABLE_CONTROLS.flatMap((name) => {
      const setting = resolveSetting(settings, name);
      return setting === undefined ? [] : [[name, setting.value]];
    }),
  );
  return { ...configured, ...given };
}

/** The speech controls that can also be set by the environment or a settings file. */
export const CONFIGURABLE_CONTROLS = ['language', 'speed', 'volume'] as const;

export const CONTROL_NAMES = Object.keys(SPEECH_CONTROLS).filter(
  (name): name is ControlName => name in SPEECH_CONTROLS,
);

/** Returns the flag that sets a speech control, such as `--speed`. For the value false, returns `--no-NAME`. */
export function flagOf(name: ControlName, value?: SpeechControls[ControlName]): string {
  return flagName(value === false ? `no-${name}` : name);
}

/** Creates the flags that set the given speech controls. */
export function controlOptions(names: readonly ControlName[] = CONTROL_NAMES): Option[] {
  return names.flatMap((name) => {
    const setting = CONFIGURABLE_CONTROLS.find((one) => one === name);
    const options = optionsOf(name);
    return setting === undefined ? options : options.map((one) => withSetting(one, setting));
  });
}

function optionsOf(name: ControlName): Option[] {
  const control = SPEECH_CONTROLS[name];
  const flag = flagName(name);
  const flags = SHORT_NAMES[name] === undefined ? flag : `${SHORT_NAMES[name]}, ${flag}`;
  // In the help, the narrower ranges of the model families follow the widest range.
  const [about = '', families] = control.description.split(/ (?=\((?:only )?[\d.]+ to )/);
  const help = lowerFirst(about);
  switch (control.type) {
    case 'number':
      return [
        numberOption(
          `${flags} <n>`,
          `${help}, ${control.minimum} to ${control.maximum}${families === undefined ? '' : ` ${families}`}`,
          control,
        ),
      ];
    case 'string':
      return [textOption(`${flags} <text>`, help, control.maxLength)];
    case 'boolean':
      return 'default' in control
        ? [new Option(flags, help)]
        : [new Option(flags, help), new Option(flagOf(name, false), `do not ${help}`)];
  }
}

/** Creates a parser for flag values that name a speech format. */
export function speechFormat(flag: string): ChoiceParser<AudioFormat | FileFormat> {
  const known = [...FILE_FORMATS, 'pcm'] as const;
  const parse = (given: string): AudioFormat | FileFormat => {
    const format = known.find((candidate) => candidate === given.toLowerCase());
    if (format !== undefined) return format;
    throw usageFailure(
      `${flag} is "${given}"; it takes ${FILE_FORMATS.join(', ')}`,
      nearestHint(given, known),
    );
  };
  return Object.assign(parse, { words: FILE_FORMATS });
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** The flags that limit what a command may buy. */
export interface CostFlags {
  readonly maxCredits?: number;
  readonly creditRate?: number;
  readonly reuse?: boolean;
}

/** The flags that identify a billed request. */
export interface IdFlags {
  readonly idempotencyKey?: string;
  readonly requestId?: string;
}

/** Creates the flags that limit, identify or preview a billed request, such as `--max-credits` and `--dry-run`. */
export function requestOptions(): Option[] {
  return [
    ...idOptions(),
    numberOption('--max-credits <n>', 'refuse a request that may cost more credits', {
      minimum: 0,
    }),
    numberOption(
      '--credit-rate <n>',
      'credits per character for --max-credits (default: from earlier charges)',
      { minimum: 0 },
    ),
    ...reuseOptions(),
    dryRunOption(),
  ];
}

/** Creates the flags that reuse bought audio. */
export function reuseOptions(): Option[] {
  return [
    withSetting(
      new Option('--reuse', 'copy audio that this account bought before, and store new audio'),
      'reuse',
    ),
    new Option('--no-reuse', 'buy all audio, whatever the setting reuse is'),
  ];
}

/** Creates the flags for the request id and the idempotency key. @param keyHelp the help of `--idempotency-key` */
export function idOptions(keyHelp = 'key that makes a repeated request free'): Option[] {
  return [
    new Option('--idempotency-key <key>', keyHelp).argParser(headerText('--idempotency-key')),
    new Option('--request-id <id>', 'trace id of the request').argParser(
      headerText('--request-id'),
    ),
  ];
}

export interface DryRunFlag {
  readonly dryRun?: true;
}

export function dryRunOption(): Option {
  return new Option('--dry-run', 'print the request and send nothing');
}

function headerText(flag: string): (given: string) => string {
  const check = textWithin(flag, IDEMPOTENCY_KEY_MAX_CHARACTERS);
  return (given) => {
    const value = check(given);
    if (isHeaderValue(value)) return value;
    throw usageFailure(
      `${flag} has characters that are not allowed in an HTTP header`,
      'Use printable ASCII without spaces at the ends.',
    );
  };
}
