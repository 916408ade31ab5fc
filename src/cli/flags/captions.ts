import path from 'node:path';
import type { Command } from 'commander';
import { Option } from 'commander';
import type { CaptionTarget } from '../../captions/caption-files.ts';
import type { CueShape } from '../../captions/cue-shape.ts';
import { oneOf, parseDuration, integerWithin } from './values.ts';
import type { SettingValues } from '../../config/setting-definitions.ts';
import { SETTINGS } from '../../config/setting-definitions.ts';
import type { SettingSources } from '../../config/settings.ts';
import { describeOrigin, resolveSetting } from '../../config/settings.ts';
import { usageFailure } from '../../errors/failure.ts';
import { durationText } from '../../text/duration.ts';
import { flagOf } from '../../captions/caption-files.ts';
import type { OutputPlan } from '../../speech/output-plan.ts';

/** The flags that say how cues are cut; every command that writes subtitles has them. */
export type CueFlags = Partial<
  Pick<SettingValues, 'cueMaxChars' | 'cueMaxLines' | 'cueMaxDuration' | 'cueMinDuration' | 'cueBy'>
>;

/** Adds the `--cue-…` flags. */
export function addCueFlags(command: Command): void {
  const options = [
    new Option('--cue-max-chars <n>', help('cueMaxChars')).argParser(
      integerWithin('--cue-max-chars', { minimum: 1, maximum: 1_000 }),
    ),
    new Option('--cue-max-lines <n>', help('cueMaxLines')).argParser(
      integerWithin('--cue-max-lines', { minimum: 1, maximum: 20 }),
    ),
    new Option('--cue-max-duration <duration>', help('cueMaxDuration')).argParser((given) =>
      parseDuration('--cue-max-duration', given),
    ),
    new Option('--cue-min-duration <duration>', help('cueMinDuration')).argParser((given) =>
      parseDuration('--cue-min-duration', given),
    ),
    new Option('--cue-by <unit>', help('cueBy')).argParser(
      oneOf('--cue-by', ['phrase', 'sentence', 'word']),
    ),
  ];
  for (const option of options) command.addOption(option.helpGroup('Caption options:'));
}

/** The repeatable `--subtitles FILE`. */
export function subtitlesOption(): Option {
  return new Option(
    '--subtitles <path>',
    'write subtitles, as .srt or .vtt; may be repeated',
  ).argParser((given: string, previous: readonly string[] | undefined) => [
    ...(previous ?? []),
    given,
  ]);
}

/**
 * How cues are cut: by the flags, else as configured, else by default.
 * @throws Failure (usage) for limits that contradict each other, (config) for a setting that may not be
 */
export function cueShape(flags: CueFlags, settings: SettingSources): CueShape {
  const value = <Name extends keyof CueFlags>(name: Name, fallback: SettingValues[Name]) =>
    resolveSetting(settings, name, flags[name]) ?? {
      value: fallback,
      origin: { kind: 'default' } as const,
    };
  const longest = value('cueMaxDuration', 7_000);
  const shortest = value('cueMinDuration', 1_000);
  if (longest.value <= 0) {
    throw usageFailure(`${describe('cueMaxDuration', longest)}; it must be above 0`);
  }
  // A given maximum takes precedence over the default minimum.
  const minDurationMs =
    shortest.origin.kind === 'default' ? Math.min(shortest.value, longest.value) : shortest.value;
  if (minDurationMs > longest.value) {
    throw usageFailure(
      `${describe('cueMinDuration', shortest)}, but ${describe('cueMaxDuration', longest)}`,
      'Lower the one or raise the other.',
    );
  }
  return {
    maxChars: value('cueMaxChars', 42).value,
    maxLines: value('cueMaxLines', 2).value,
    maxDurationMs: longest.value,
    minDurationMs,
    by: value('cueBy', 'phrase').value,
  };
}

/**
 * The files that `--subtitles` names, with their formats.
 * @throws Failure (usage) for an ending that is neither .srt nor .vtt, and for one file twice
 */
export function subtitleTargets(given: readonly string[], cwd: string): CaptionTarget[] {
  const seen = new Set<string>();
  return given.map((file) => {
    const format = SUBTITLE_FORMATS.find((each) => file.toLowerCase().endsWith(`.${each}`));
    if (format === undefined) {
      throw usageFailure(
        `--subtitles is "${file}"; it takes a .srt or .vtt file`,
        'The extension selects the format: SubRip or WebVTT.',
      );
    }
    const place = path.resolve(cwd, file);
    if (seen.has(place)) {
      throw usageFailure(`--subtitles names ${file} twice`, 'Name each file once.');
    }
    seen.add(place);
    return { path: file, format };
  });
}

const SUBTITLE_FORMATS = ['srt', 'vtt'] as const;

function help(name: keyof CueFlags): string {
  const { allowed, fallback, unit, what } = SETTINGS[name];
  const shown = unit === 'ms' ? durationText(Number(fallback)) : fallback;
  const choices = name === 'cueBy' ? `: ${allowed}` : '';
  return `${what}${choices} (default: ${shown})`;
}

function describe(
  name: 'cueMaxDuration' | 'cueMinDuration',
  { origin, value }: NonNullable<ReturnType<typeof resolveSetting<typeof name>>>,
): string {
  const where =
    origin.kind === 'flag' || origin.kind === 'default' ? '' : ` of ${describeOrigin(origin)}`;
  const flag = name === 'cueMaxDuration' ? '--cue-max-duration' : '--cue-min-duration';
  return `${origin.kind === 'flag' ? flag : `${name}${where}`} is ${value === 0 ? '0' : durationText(value)}`;
}

/** The flags that ask for the times of words. */
export interface CaptionFlags extends CueFlags {
  readonly subtitles?: readonly string[];
  readonly timings?: string;
}

/** The captions that are asked for, with everything that can be known of them before. */
export interface CaptionPlan {
  readonly targets: readonly CaptionTarget[];
  readonly shape: CueShape;
}

/** `--timings`, which belongs to `--subtitles`. */
export function timingsOption(): Option {
  return new Option('--timings <path>', 'write word times, as .json');
}

/**
 * The captions that flags ask for; undefined without any.
 * @throws Failure (usage) for names, limits and flags that do not go together
 */
export function planCaptions(
  flags: CaptionFlags,
  settings: SettingSources,
  { cwd, plan }: { readonly cwd: string; readonly plan: OutputPlan },
): CaptionPlan | undefined {
  const { subtitles = [], timings } = flags;
  refuseCueFlags(flags);
  const targets = [
    ...subtitleTargets(subtitles, cwd),
    ...(timings === undefined ? [] : [timingsTarget(timings)]),
  ];
  if (targets.length === 0) return undefined;
  refuseAudioFile(targets, plan, cwd);
  return { targets, shape: cueShape(flags, settings) };
}

/** The flag by which captions are asked for; undefined where none are. */
export function captionFlag({ subtitles = [], timings }: CaptionFlags): string | undefined {
  if (subtitles.length > 0) return '--subtitles';
  return timings === undefined ? undefined : '--timings';
}

function refuseCueFlags(flags: CaptionFlags): void {
  const given = new Set(Object.keys(flags));
  const shaping = Object.entries(CUE_FLAGS).find(([name]) => given.has(name));
  if (shaping === undefined || flags.subtitles !== undefined) return;
  throw usageFailure(
    `${shaping[1]} requires --subtitles`,
    'Name a file with --subtitles, or leave it out.',
  );
}

const CUE_FLAGS: Readonly<Record<keyof CueFlags, string>> = {
  cueMaxChars: '--cue-max-chars',
  cueMaxLines: '--cue-max-lines',
  cueMaxDuration: '--cue-max-duration',
  cueMinDuration: '--cue-min-duration',
  cueBy: '--cue-by',
};

function timingsTarget(file: string): CaptionTarget {
  if (file.toLowerCase().endsWith('.json')) return { path: file, format: 'json' };
  throw usageFailure(
    `--timings is "${file}"; it takes a .json file`,
    'Use --subtitles for subtitles.',
  );
}

function refuseAudioFile(targets: readonly CaptionTarget[], plan: OutputPlan, cwd: string): void {
  if (plan.kind !== 'file') return;
  const audio = path.resolve(cwd, plan.path);
  const same = targets.find((target) => path.resolve(cwd, target.path) === audio);
  if (same === undefined) return;
  throw usageFailure(
    `${flagOf(same)} and --output both name ${same.path}`,
    'Give each its own file.',
  );
}
