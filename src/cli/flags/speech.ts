import type { Command } from 'commander';
import { Option } from 'commander';
import type { ChoiceParser } from './values.ts';
import type { AudioFormat } from '../../contract/values.ts';
import { AUDIO_FORMATS } from '../../contract/values.ts';
import type { ControlName } from '../../contract/generated/speech-controls.ts';
import { SPEECH_CONTROLS, SPEECH_FORMATS } from '../../contract/generated/speech-controls.ts';
import type { SpeechControls } from '../../contract/speech.ts';
import { usageFailure } from '../../errors/failure.ts';
import type { SettingSources } from '../../config/settings.ts';
import { resolveSetting } from '../../config/settings.ts';
import { countCodePoints } from '../../text/code-points.ts';
import { closest } from '../../text/did-you-mean.ts';
import { isHeaderValue } from '../../api/request.ts';
import { IDEMPOTENCY_KEY_MAX_CHARACTERS } from '../../contract/limits.ts';

/** The flags that say who speaks and how; every command that speaks has them. */
export interface SpeechFlags extends SpeechControls {
  readonly voice?: string;
  readonly voiceName?: string;
  readonly model?: string;
  readonly format?: AudioFormat;
  readonly outputFormat?: AudioFormat;
}

/** Short names that the contract gives to controls. */
const SHORT_NAMES: Partial<Record<ControlName, string>> = { language: '-l' };

/** What a command says of its formats: which it has, and which one where none is named. */
interface FormatWords {
  readonly formats?: string;
  readonly usual?: string;
}

export function addSpeechFlags(
  command: Command,
  {
    formats = SPEECH_FORMATS.join(', '),
    usual = 'from the extension of --output, else mp3',
  }: FormatWords = {},
): void {
  for (const option of voiceOptions()) command.addOption(option);
  command
    .addOption(
      new Option('-m, --model <id>', 'model id (default: the voice’s default model)').argParser(
        filled('--model'),
      ),
    )
    .addOption(
      new Option('--format <format>', `${formats} (default: ${usual})`).argParser(
        speechFormat('--format'),
      ),
    )
    .addOption(
      new Option('--output-format <format>', 'alias of --format')
        .argParser(speechFormat('--output-format'))
        .conflicts('format')
        .hideHelp(),
    );
  for (const option of controlOptions()) command.addOption(option);
}

/** The flags that say who speaks. */
export function voiceOptions(): Option[] {
  return [
    new Option('-v, --voice <id>', 'voice id').argParser(filled('--voice')),
    new Option('--voice-name <name>', 'exact voice name, case-insensitive')
      .argParser(filled('--voice-name'))
      .conflicts('voice'),
  ];
}

/**
 * The controls to send, by the service's names: those that were given as flags, and those that are
 * configured. What was not given is not sent.
 */
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

/** The controls that the environment or a config file may set. */
export const CONFIGURABLE_CONTROLS = ['language', 'speed', 'volume'] as const;

/** Every control, in the order of the help. */
export const CONTROL_NAMES = Object.keys(SPEECH_CONTROLS).filter(
  (name): name is ControlName => name in SPEECH_CONTROLS,
);

/** The flag of a control, as it was given where that has two forms. */
export function flagOf(name: ControlName, value?: SpeechControls[ControlName]): string {
  return `--${value === false ? 'no-' : ''}${kebab(name)}`;
}

/** The flags of controls: of all, or of some. */
export function controlOptions(names: readonly ControlName[] = CONTROL_NAMES): Option[] {
  return names.flatMap((name) => {
    const control = SPEECH_CONTROLS[name];
    const flag = `--${kebab(name)}`;
    const flags = SHORT_NAMES[name] === undefined ? flag : `${SHORT_NAMES[name]}, ${flag}`;
    // The ranges of families follow the widest one.
    const [about = '', families] = control.description.split(/; (?=[\d.]+ to )/);
    const help = lowerFirst(about);
    switch (control.type) {
      case 'number':
        return new Option(
          `${flags} <n>`,
          `${help}, ${control.minimum} to ${control.maximum}${families === undefined ? '' : ` (${families})`}`,
        ).argParser(numberWithin(flag, control));
      case 'string':
        return new Option(`${flags} <text>`, help).argParser(textWithin(flag, control.maxLength));
      case 'boolean':
        return 'default' in control
          ? new Option(flags, help)
          : [new Option(flags, help), new Option(`--no-${kebab(name)}`, `do not ${help}`)];
    }
  });
}

/** A parser for a flag that takes a decimal number within limits. */
export function numberWithin(
  flag: string,
  { minimum, maximum = Infinity }: { readonly minimum: number; readonly maximum?: number },
): (given: string) => number {
  const allowed =
    maximum === Infinity
      ? `a number of at least ${minimum}`
      : `a number from ${minimum} to ${maximum}`;
  return (given) => {
    const value = /^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(given) ? Number(given) : NaN;
    if (!(value >= minimum && value <= maximum)) {
      throw usageFailure(`${flag} is "${given}"; it takes ${allowed}`);
    }
    return value;
  };
}

/** A parser for a flag that takes text of at most `maximum` characters, and not nothing. */
export function textWithin(flag: string, maximum: number): (given: string) => string {
  const check = filled(flag);
  return (given) => {
    const length = countCodePoints(given);
    if (length > maximum) {
      throw usageFailure(`${flag} has ${length} characters; at most ${maximum} are allowed`);
    }
    return check(given);
  };
}

/** A parser for a flag that takes any text but none. */
export function filled(flag: string): (given: string) => string {
  return (given) => {
    if (given.trim() === '') {
      throw usageFailure(`${flag} is empty`, 'Give a value, or leave the flag out.');
    }
    return given;
  };
}

/** A parser for a flag that takes a format of speech. */
export function speechFormat(flag: string): ChoiceParser<AudioFormat> {
  const parse = (given: string): AudioFormat => {
    const format = AUDIO_FORMATS.find((candidate) => candidate === given.toLowerCase());
    if (format !== undefined) return format;
    const [nearest] = closest(given, AUDIO_FORMATS, 1);
    throw usageFailure(
      `${flag} is "${given}"; it takes ${SPEECH_FORMATS.join(', ')}`,
      nearest === undefined ? undefined : `Did you mean ${nearest}?`,
    );
  };
  return Object.assign(parse, { words: SPEECH_FORMATS });
}

function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** The ids that every command takes which creates something that may be billed. */
export interface IdFlags {
  readonly idempotencyKey?: string;
  readonly requestId?: string;
  readonly dryRun?: true;
}

/** The flags of every command that speaks and is billed for it. */
export function requestOptions(): Option[] {
  return [
    ...idOptions('key that makes a repeated request free'),
    new Option('--max-credits <n>', 'refuse a request that may cost more').argParser(
      numberWithin('--max-credits', { minimum: 0 }),
    ),
    new Option(
      '--credit-rate <n>',
      'credits per character for --max-credits (default: from earlier charges)',
    ).argParser(numberWithin('--credit-rate', { minimum: 0 })),
    dryRunOption(),
  ];
}

/** Flags for the ids of a request. @param keyHelp what the key is good for there */
export function idOptions(keyHelp: string): Option[] {
  return [
    new Option('--idempotency-key <key>', keyHelp).argParser(headerText('--idempotency-key')),
    new Option('--request-id <id>', 'trace id of the request').argParser(
      headerText('--request-id'),
    ),
  ];
}

export function dryRunOption(): Option {
  return new Option('--dry-run', 'print the request and send nothing');
}

/** A parser for a flag whose text becomes the value of a header. */
function headerText(flag: string): (given: string) => string {
  const check = textWithin(flag, IDEMPOTENCY_KEY_MAX_CHARACTERS);
  return (given) => {
    const value = check(given);
    if (isHeaderValue(value)) return value;
    throw usageFailure(
      `${flag} has characters that a header cannot carry`,
      'Use printable ASCII without spaces at the ends.',
    );
  };
}
