import { LANGUAGE_MAX_CHARACTERS, SPEED_RANGE, VOLUME_RANGE } from '../contract/limits.ts';
import type { SpeechFormat } from '../contract/speech.ts';
import { durationMs } from '../text/duration.ts';

/** Every setting with the type of its value; durations are in milliseconds. */
export interface SettingValues {
  readonly voice: string;
  readonly model: string;
  readonly format: SpeechFormat;
  readonly language: string;
  readonly speed: number;
  readonly volume: number;
  readonly cueMaxChars: number;
  readonly cueMaxLines: number;
  readonly cueMaxDuration: number;
  readonly cueMinDuration: number;
  readonly cueBy: 'phrase' | 'sentence' | 'word';
  readonly concurrency: number;
  readonly 'upload.command': string;
}

export type SettingName = keyof SettingValues;

export interface SettingDefinition<T> {
  /** For `config list` and the docs. */
  readonly what: string;
  /** What a value may be, for messages. */
  readonly allowed: string;
  /** The value out of JSON or of a word of the command line; `undefined` when it may not be. */
  readonly read: (given: unknown) => T | undefined;
  readonly environment?: string;
  readonly fallback?: T;
  /** What a number counts, where it is shown with its unit. */
  readonly unit?: 'ms';
  /** A project's file may set it: it can neither redirect a key nor run a program. */
  readonly project: boolean;
}

type Definitions = { readonly [Name in SettingName]: SettingDefinition<SettingValues[Name]> };

const ID = { allowed: 'an id', read: text(256), project: true } as const;

/** What can be set, by whom, to what. */
export const SETTINGS: Definitions = {
  voice: { ...ID, what: 'voice', environment: 'FOLEY_VOICE' },
  model: { ...ID, what: 'model', environment: 'FOLEY_MODEL' },
  format: { ...choice(['mp3', 'wav', 'ogg']), what: 'audio format', fallback: 'mp3' },
  language: {
    what: 'language hint',
    allowed: `1 to ${LANGUAGE_MAX_CHARACTERS} characters`,
    read: text(LANGUAGE_MAX_CHARACTERS),
    project: true,
  },
  speed: { ...range(SPEED_RANGE), what: 'speaking rate' },
  volume: { ...range(VOLUME_RANGE), what: 'gain in decibels' },
  cueMaxChars: { ...whole(1, 1_000), what: 'characters on a line of a caption', fallback: 42 },
  cueMaxLines: { ...whole(1, 20), what: 'lines of a caption', fallback: 2 },
  cueMaxDuration: { ...duration(), what: 'longest time of a caption', fallback: 7_000 },
  cueMinDuration: { ...duration(), what: 'shortest time of a caption', fallback: 1_000 },
  cueBy: {
    ...choice(['phrase', 'sentence', 'word']),
    what: 'where captions are cut',
    fallback: 'phrase',
  },
  concurrency: { ...whole(1, 256), what: 'requests at a time in a batch', fallback: 4 },
  'upload.command': {
    what: 'command that uploads a file and prints its URL',
    allowed: 'a command line',
    read: text(4_096),
    project: false,
  },
};

export const SETTING_NAMES = Object.keys(SETTINGS).filter((name) => isSettingName(name));

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name);
}

function text(longest: number): (given: unknown) => string | undefined {
  return (given) =>
    typeof given === 'string' && given.trim() !== '' && given.length <= longest ? given : undefined;
}

function choice<const T extends string>(values: readonly T[]) {
  return {
    allowed: values.join(', '),
    read: (given: unknown) => values.find((value) => value === given),
    project: true,
  };
}

function range({ minimum, maximum }: { readonly minimum: number; readonly maximum: number }) {
  return {
    allowed: `a number from ${minimum} to ${maximum}`,
    read: (given: unknown) => {
      const value = numberOf(given);
      return value !== undefined && value >= minimum && value <= maximum ? value : undefined;
    },
    project: true,
  };
}

function whole(minimum: number, maximum: number) {
  return {
    allowed: `a whole number from ${minimum} to ${maximum}`,
    read: (given: unknown) => {
      const value = range({ minimum, maximum }).read(given);
      return Number.isInteger(value) ? value : undefined;
    },
    project: true,
  };
}

function duration() {
  return {
    allowed: 'a duration such as 500ms or 7s; plain numbers are seconds',
    unit: 'ms',
    read: (given: unknown) =>
      typeof given === 'number' || typeof given === 'string' ? durationMs(`${given}`) : undefined,
    project: true,
  } as const;
}

function numberOf(given: unknown): number | undefined {
  if (typeof given === 'number') return given;
  if (typeof given !== 'string' || !/^-?\d+(\.\d+)?$/.test(given)) return undefined;
  return Number(given);
}
