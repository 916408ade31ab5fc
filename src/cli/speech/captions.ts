import path from 'node:path';
import { Option } from 'commander';
import type { CaptionTarget } from '../../captions/caption-files.ts';
import { flagOf } from '../../captions/caption-files.ts';
import type { CueShape } from '../../captions/cue-shape.ts';
import type { SettingSources } from '../../config/settings.ts';
import { usageFailure } from '../../errors/failure.ts';
import type { OutputPlan } from '../../speech/output-plan.ts';
import type { CueFlags } from '../flags/captions.ts';
import { cueShape, subtitleTargets } from '../flags/captions.ts';

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
  return new Option('--timings <path>', 'write the times of the words, as .json');
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
    `${shaping[1]} says how cues are cut, and there are no --subtitles`,
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
    `--timings is "${file}"; it takes a name that ends in .json`,
    'Subtitles are written by --subtitles.',
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

/** The captions of a text that is spoken in parts, as they are written down with its plan. */
export function captionsRecord(captions: CaptionPlan | undefined, cwd: string): unknown {
  if (captions === undefined) return undefined;
  const targets = captions.targets.map((target) => {
    return { ...target, path: path.resolve(cwd, target.path) };
  });
  return { ...captions, targets };
}

/** What {@link captionsRecord} made; undefined for what is none. */
export function parseCaptionsRecord(value: unknown): CaptionPlan | undefined {
  const { shape, targets } = fieldsOf(value);
  if (!Array.isArray(targets) || !targets.every((one) => isTarget(one))) return undefined;
  return isShape(shape) ? { targets, shape } : undefined;
}

function isTarget(value: unknown): value is CaptionTarget {
  const { format, path: file } = fieldsOf(value);
  return typeof file === 'string' && (format === 'srt' || format === 'vtt' || format === 'json');
}

function isShape(value: unknown): value is CueShape {
  const fields = fieldsOf(value);
  const counts = ['maxChars', 'maxLines', 'maxDurationMs', 'minDurationMs'];
  const areCounts = counts.every((name) => typeof fields[name] === 'number');
  const { by } = fields;
  return areCounts && (by === 'phrase' || by === 'sentence' || by === 'word');
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value))
    : {};
}
