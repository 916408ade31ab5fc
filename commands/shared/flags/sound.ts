import { Option } from 'commander';
import { numberWithin } from '../../../src/cli/flags/values.ts';
import type { SoundChanges } from '../../../src/durable/output.ts';

export interface SoundFlags {
  readonly loudness?: number | 'off';
  readonly trim?: true;
}

/** Creates the flag `--loudness`. */
export function loudnessOption(): Option {
  return new Option('--loudness <lufs>', 'integrated loudness in LUFS, or off').argParser((given) =>
    given === 'off' ? given : LUFS(given),
  );
}

const LUFS = numberWithin('--loudness', { minimum: -60, maximum: -6 });

/** Creates the flags that change the sound of a file. */
export function soundChangeOptions(): Option[] {
  return [
    loudnessOption().default(undefined, 'off'),
    new Option('--trim', 'shorten the silence at the start and at the end to 50 ms'),
  ];
}

/** Returns the changes that the flags request; undefined for none. */
export function soundChanges({ loudness = 'off', trim }: SoundFlags): SoundChanges | undefined {
  if (loudness === 'off') return trim === true ? { trim } : undefined;
  return trim === true ? { loudness, trim } : { loudness };
}
