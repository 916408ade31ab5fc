import path from 'node:path';
import type { Command } from 'commander';
import { Option } from 'commander';
import type { AssStyle } from '../../../src/captions/ass-style.ts';
import type { CaptionTarget } from '../../../src/captions/caption-files.ts';
import type { CueShape } from '../../../src/captions/cue-shape.ts';
import {
  addOptions,
  choiceOption,
  durationOption,
  integerOption,
  listOption,
  textOption,
  withSetting,
} from '../../../src/cli/flags/values.ts';
import type { Context } from '../../../src/cli/command.ts';
import { readTextInput } from '../../../src/cli/read-input.ts';
import type { SettingValues } from '../../../src/config/setting-definitions.ts';
import { SETTINGS } from '../../../src/config/setting-definitions.ts';
import type { SettingSources } from '../../../src/config/settings.ts';
import type { Origin } from '../../../src/config/settings.ts';
import { describeOrigin, flagName, resolveSetting } from '../../../src/config/settings.ts';
import { usageFailure } from '../../../src/errors/failure.ts';
import { durationText } from '../../../src/text/duration.ts';
import { CUE_PRESETS, DEFAULT_GAPS, SUBTITLE_FORMATS } from '../../../src/captions/cue-shape.ts';

type CueSetting =
  | 'cueMaxChars'
  | 'cueMaxLines'
  | 'cueMaxDuration'
  | 'cueMinDuration'
  | 'cueMaxCps'
  | 'cueBy'
  | 'cuePreset';

type CueSettingFlags = { readonly [Name in CueSetting]?: SettingValues[Name] };

export interface CueFlags extends CueSettingFlags {
  readonly assStyle?: string;
}

/** Adds the `--cue-…` flags and `--ass-style` to a command. */
export function addCueFlags(command: Command): void {
  const options = [
    withSetting(
      integerOption('--cue-max-chars <n>', help('cueMaxChars'), { minimum: 1, maximum: 1_000 }),
      'cueMaxChars',
    ),
    withSetting(
      integerOption('--cue-max-lines <n>', help('cueMaxLines'), { minimum: 1, maximum: 20 }),
      'cueMaxLines',
    ),
    withSetting(
      durationOption('--cue-max-duration <duration>', help('cueMaxDuration')),
      'cueMaxDuration',
    ),
    withSetting(
      durationOption('--cue-min-duration <duration>', help('cueMinDuration')),
      'cueMinDuration',
    ),
    withSetting(
      integerOption('--cue-max-cps <n>', help('cueMaxCps'), { minimum: 1, maximum: 1_000 }),
      'cueMaxCps',
    ),
    withSetting(
      choiceOption('--cue-by <unit>', help('cueBy'), ['phrase', 'sentence', 'word']),
      'cueBy',
    ),
    withSetting(
      choiceOption('--cue-preset <name>', help('cuePreset'), Object.keys(CUE_PRESETS)),
      'cuePreset',
    ),
    textOption('--ass-style <file>', 'take the styles of .ass subtitles from this .ass file'),
  ];
  addOptions(
    command,
    options.map((option) => option.helpGroup('Caption options:')),
  );
}

/** Creates the flag `--subtitles`, which may be repeated. */
export function subtitlesOption(): Option {
  const description = `write subtitles, as ${SUBTITLE_EXTENSIONS}`;
  return listOption('--subtitles <path>', description, (given) => given);
}

/**
 * Returns the limits of subtitle cues, from flags, settings or defaults. A preset such as `netflix` overrides limits
 * from sources of lower precedence. For example, a preset given as a flag overrides a limit in a settings file.
 * @throws Failure: `usage` for contradictory limits, `config` for an invalid setting
 */
export function cueShape(flags: CueSettingFlags, settings: SettingSources): CueShape {
  const preset = resolveSetting(settings, 'cuePreset', flags.cuePreset);
  const limits = preset === undefined ? undefined : CUE_PRESETS[preset.value];
  const value = <Name extends CueSetting>(name: Name, ofPreset?: SettingValues[Name]) => {
    const given = resolveSetting(settings, name, flags[name]);
    if (given === undefined) throw new Error(`${name} has no default`);
    const isOverridden = preset !== undefined && rankOf(preset.origin) < rankOf(given.origin);
    return isOverridden && ofPreset !== undefined
      ? { value: ofPreset, origin: { kind: 'default' } as const }
      : given;
  };
  const longest = value('cueMaxDuration', limits?.maxDurationMs);
  const shortest = value('cueMinDuration', limits?.minDurationMs);
  const maximum = describe('cueMaxDuration', longest);
  if (longest.value <= 0) {
    throw usageFailure(`the maximum duration of a cue must be above 0, but ${maximum}`);
  }
  // A given maximum takes precedence over the default minimum.
  const minDurationMs =
    shortest.origin.kind === 'default' ? Math.min(shortest.value, longest.value) : shortest.value;
  if (minDurationMs > longest.value) {
    const minimum = describe('cueMinDuration', shortest);
    throw usageFailure(
      `the minimum duration of a cue is above the maximum: ${minimum}, but ${maximum}`,
      'Lower the minimum or raise the maximum.',
    );
  }
  const { gapMs, minPauseMs } = limits ?? DEFAULT_GAPS;
  return {
    maxChars: value('cueMaxChars', limits?.maxChars).value,
    maxLines: value('cueMaxLines', limits?.maxLines).value,
    maxDurationMs: longest.value,
    minDurationMs,
    maxCps: value('cueMaxCps', limits?.maxCps).value,
    gapMs,
    minPauseMs,
    by: value('cueBy').value,
  };
}

function rankOf({ kind }: Origin): number {
  return ['flag', 'environment', 'project', 'user', 'default'].indexOf(kind);
}

/**
 * Returns the files that `--subtitles` names, with their formats.
 * @throws Failure of kind `usage` for an extension other than .srt and .vtt, and for a repeated file
 */
export function subtitleTargets(given: readonly string[], cwd: string): CaptionTarget[] {
  const seen = new Set<string>();
  return given.map((file) => {
    const format = SUBTITLE_FORMATS.find((each) => file.toLowerCase().endsWith(`.${each}`));
    if (format === undefined) {
      throw usageFailure(
        `--subtitles is "${file}"; it takes a file with the extension ${SUBTITLE_EXTENSIONS}`,
        'The extension selects the format: SubRip, WebVTT, Advanced SubStation Alpha, TTML or LRC.',
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

const SUBTITLE_EXTENSIONS = SUBTITLE_FORMATS.map((format) => `.${format}`).join(', ');

function help(name: CueSetting): string {
  const { allowed, fallback, unit, what } = SETTINGS[name];
  const choices = name === 'cueBy' || name === 'cuePreset' ? `: ${allowed}` : '';
  if (fallback === undefined) return `${what}${choices}`;
  const shown = unit === 'ms' ? durationText(Number(fallback)) : fallback;
  return `${what}${choices} (default: ${shown})`;
}

function describe(
  name: 'cueMaxDuration' | 'cueMinDuration',
  { origin, value }: NonNullable<ReturnType<typeof resolveSetting<typeof name>>>,
): string {
  const where = origin.kind === 'default' ? '' : ` of ${describeOrigin(origin)}`;
  const shown = origin.kind === 'flag' ? origin.name : `${name}${where}`;
  return `${shown} is ${value === 0 ? '0' : durationText(value)}`;
}

export interface CaptionFlags extends CueFlags {
  readonly subtitles?: readonly string[];
  readonly timings?: string;
}

/** The requested caption files and the limits of subtitle cues. */
export interface CaptionPlan {
  readonly targets: readonly CaptionTarget[];
  readonly shape: CueShape;
}

/** Creates the flag `--timings`. */
export function timingsOption(): Option {
  return new Option('--timings <path>', 'write word times, as .json');
}

/**
 * Returns the requested captions; undefined if the user requests none.
 * @throws Failure of kind `usage` for invalid file names and for flags that contradict each other
 */
export async function planCaptions(
  flags: CaptionFlags,
  settings: SettingSources,
  context: Context,
): Promise<CaptionPlan | undefined> {
  refuseCueFlags(flags);
  const targets = await captionTargets(flags, context);
  if (targets.length === 0) return undefined;
  return { targets, shape: cueShape(flags, settings) };
}

/**
 * Returns the caption files that the user requests, with their formats and styles.
 * @throws Failure of kind `usage` for an extension of another format, for a repeated file, and for a file without styles
 */
export async function captionTargets(
  { assStyle: styleFile, subtitles = [], timings }: CaptionFlags,
  context: Context,
): Promise<readonly CaptionTarget[]> {
  const named = subtitleTargets(subtitles, context.cwd());
  const hasAss = named.some(({ format }) => format === 'ass');
  const assStyle = await readAssStyle(styleFile, hasAss, context);
  const targets = named.map((target) =>
    target.format === 'ass' ? { ...target, assStyle } : target,
  );
  return timings === undefined ? targets : [...targets, timingsTarget(timings)];
}

/**
 * Reads the styles of `--ass-style`; undefined if the flag is not given.
 * @throws Failure of kind `usage` if no .ass file is requested, and for a file without styles
 */
export async function readAssStyle(
  file: string | undefined,
  hasAss: boolean,
  context: Context,
): Promise<AssStyle | undefined> {
  if (file === undefined) return undefined;
  const shown = `--ass-style ${file}`;
  if (!hasAss) {
    throw usageFailure(`${shown} requires --subtitles with a .ass file`, 'Leave one of them out.');
  }
  const [{ parseAssStyle }, { readFrom }] = await Promise.all([
    import('../../../src/captions/ass-style.ts'),
    import('../../../src/captions/read-cues.ts'),
  ]);
  const content = await readTextInput(context, file, shown, 'Save the file as UTF-8.');
  return readFrom(shown, () => parseAssStyle(content));
}

/** Returns the flag with which the user requests captions; undefined if the user requests none. */
export function captionFlag({ subtitles = [], timings }: CaptionFlags): string | undefined {
  if (subtitles.length > 0) return '--subtitles';
  return timings === undefined ? undefined : '--timings';
}

/**
 * Refuses the `--cue-…` flags without `--subtitles`.
 * @throws Failure of kind `usage`
 */
export function refuseCueFlags(flags: CueFlags & { readonly subtitles?: unknown }): void {
  const cueFlag = Object.keys(flags).find((name) => name.startsWith('cue'));
  if (cueFlag === undefined || flags.subtitles !== undefined) return;
  const hint = 'Add --subtitles, or leave it out.';
  throw usageFailure(`${flagName(cueFlag)} requires --subtitles`, hint);
}

function timingsTarget(file: string): CaptionTarget {
  if (file.toLowerCase().endsWith('.json')) return { path: file, format: 'json' };
  throw usageFailure(
    `--timings is "${file}"; it takes a .json file`,
    'Use --subtitles for subtitles.',
  );
}
