import type { CaptionFormat } from '../../src/captions/caption-files.ts';
import type { CaptionWishes } from '../../src/batch/run/aligned-speaker.ts';
import type { SettingSources } from '../../src/config/settings.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { cueShape } from '../caption-flags.ts';
import type { BatchFlags } from './batch-flags.ts';

const CUE_FLAGS = [
  ['cueMaxChars', '--cue-max-chars'],
  ['cueMaxLines', '--cue-max-lines'],
  ['cueMaxDuration', '--cue-max-duration'],
  ['cueMinDuration', '--cue-min-duration'],
  ['cueBy', '--cue-by'],
] as const;

/**
 * The captions that every item gets; undefined for none.
 * @throws Failure (usage) for flags that do not go together
 */
export function captionWishes(
  flags: BatchFlags,
  settings: SettingSources,
): CaptionWishes | undefined {
  const { subtitles, timings } = flags;
  const cue = CUE_FLAGS.find(([name]) => flags[name] !== undefined);
  if (cue !== undefined && subtitles === undefined) {
    throw usageFailure(
      `${cue[1]} says how cues are cut, and there are no --subtitles`,
      'Ask for them with --subtitles srt, or leave it out.',
    );
  }
  const formats: readonly CaptionFormat[] = [
    ...(subtitles === undefined ? [] : [subtitles]),
    ...(timings === true ? (['json'] as const) : []),
  ];
  return formats.length === 0 ? undefined : { formats, shape: cueShape(flags, settings) };
}
