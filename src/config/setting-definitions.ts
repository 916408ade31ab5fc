import { LANGUAGE_MAX_CHARACTERS, SPEED_RANGE, VOLUME_RANGE } from '../contract/limits.ts';
import type { SpeechFormat } from '../contract/speech.ts';
import { usageFailure } from '../errors/failure.ts';
import { nearestHint } from '../text/did-you-mean.ts';
import { durationMs } from '../text/duration.ts';
import { sizeBytes } from '../text/size.ts';

/** The type of each setting's value; durations are in milliseconds. */
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
  readonly cueMaxCps: number;
  readonly cueBy: 'phrase' | 'sentence' | 'word';
  readonly cuePreset: 'netflix' | 'bbc';
  readonly concurrency: number;
  readonly lexicon: string;
  readonly reuse: boolean;
  /** In bytes. */
  readonly 'reuse.maxSize': number;
  readonly 'upload.command': string;
  readonly 'engine.keepAlive': number;
  readonly pager: string;
}

export type SettingName = keyof SettingValues;

interface SettingDefinition<T> {
  readonly what: string;
  readonly allowed: string;
  readonly read: (given: unknown) => T | undefined;
  readonly environment?: string;
  readonly fallback?: T;
  // Default where the environment has `CI`, if it differs.
  readonly fallbackInCi?: T;
  // Unit of a numeric setting, which is printed after the number.
  readonly unit?: 'bytes' | 'ms';
  // Whether the value is a path, relative to the folder of the settings file.
  readonly isPath?: true;
  // Whether a project file may set it: not what runs programs or keeps them running.
  readonly project: boolean;
}

type Definitions = { readonly [Name in SettingName]: SettingDefinition<SettingValues[Name]> };

const ID = { allowed: 'an id', read: text(256), project: true } as const;

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
  cueMaxChars: { ...whole(1, 1_000), what: 'characters per line of a caption', fallback: 42 },
  cueMaxLines: { ...whole(1, 20), what: 'lines per caption', fallback: 2 },
  cueMaxDuration: { ...duration(), what: 'longest duration of a caption', fallback: 7_000 },
  cueMinDuration: { ...duration(), what: 'shortest duration of a caption', fallback: 1_000 },
  cueMaxCps: { ...whole(1, 1_000), what: 'characters per second of a caption', fallback: 20 },
  cueBy: {
    ...choice(['phrase', 'sentence', 'word']),
    what: 'unit of text for each caption',
    fallback: 'phrase',
  },
  cuePreset: { ...choice(['netflix', 'bbc']), what: 'limits of a style guide for captions' },
  concurrency: { ...whole(1, 256), what: 'concurrent requests of a batch', fallback: 4 },
  lexicon: {
    what: 'file with pronunciations, as for --lexicon',
    allowed: 'the path of a file',
    read: text(4_096),
    project: true,
    isPath: true,
  },
  reuse: {
    what: 'copy audio that was bought before',
    allowed: 'true or false',
    read: truth,
    environment: 'FOLEY_REUSE',
    fallback: false,
    project: true,
  },
  'reuse.maxSize': {
    what: 'maximum size of the stored audio',
    allowed: 'a size such as 500MB or 2GB',
    unit: 'bytes',
    read: (given) =>
      typeof given === 'number' || typeof given === 'string' ? sizeBytes(`${given}`) : undefined,
    fallback: 1_000_000_000,
    project: false,
  },
  'upload.command': {
    what: 'command that uploads a file and prints its URL',
    allowed: 'a command line',
    read: text(4_096),
    project: false,
  },
  'engine.keepAlive': {
    ...duration(),
    what: 'idle time after which an engine ends; 0: at once',
    environment: 'FOLEY_KEEP_ALIVE',
    fallback: 600_000,
    fallbackInCi: 0,
    project: false,
  },
  pager: {
    what: 'pager of long lists; cat: none',
    allowed: 'a command line',
    read: text(4_096),
    environment: 'FOLEY_PAGER',
    project: false,
  },
};

/**
 * Checks that a setting with this name exists, and returns the name.
 * @throws Failure of kind `usage` for an unknown name; its hint suggests the nearest name
 */
export function settingNamed(name: string): SettingName {
  if (isSettingName(name)) return name;
  const all = `The settings are ${SETTING_NAMES.join(', ')}.`;
  throw usageFailure(`unknown setting "${name}"`, nearestHint(name, SETTING_NAMES, all));
}

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

function truth(given: unknown): boolean | undefined {
  if (given === true || given === 'true') return true;
  return given === false || given === 'false' ? false : undefined;
}

function numberOf(given: unknown): number | undefined {
  if (typeof given === 'number') return given;
  if (typeof given !== 'string' || !/^-?\d+(\.\d+)?$/.test(given)) return undefined;
  return Number(given);
}
