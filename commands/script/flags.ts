import { Option } from 'commander';
import type { RunFlags } from '../shared/flags/batch.ts';
import type { CaptionFlags } from '../shared/flags/captions.ts';
import { subtitlesOption } from '../shared/flags/captions.ts';
import type { SpeakerFlags } from '../shared/flags/speech.ts';
import { loudnessOption } from '../shared/flags/sound.ts';
import {
  chapterOptions,
  dropSoundsOption,
  modelOption,
  voiceOptions,
} from '../shared/flags/speech.ts';
import type { TagFlags } from '../shared/flags/tags.ts';
import { tagOptions } from '../shared/flags/tags.ts';
import { overlayOption } from '../shared/read-along.ts';
import {
  choiceOption,
  durationOption,
  filled,
  listOption,
  parseDuration,
  textOption,
} from '../../src/cli/flags/values.ts';
import { PAUSE_MAX_MS } from '../../src/contract/recording-limits.ts';
import { FILE_FORMATS } from '../../src/contract/values.ts';
import type { Overlay, OverlayAudio } from '../../src/read-along/overlay.ts';
import { OVERLAY_AUDIO } from '../../src/read-along/overlay.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import type { CastMember } from '../../src/script/cast.ts';
import { parseCastFlag } from '../../src/script/cast.ts';
import type { Timing } from '../../src/script/recording/timeline.ts';
import { TIMINGS } from '../../src/script/recording/timeline.ts';
import type { ScriptFormat } from '../../src/script/script.ts';
import { SCRIPT_FORMATS } from '../../src/script/script.ts';
import type { ChapterChoice } from '../../src/text/chapters.ts';
import { durationText } from '../../src/text/duration.ts';

export interface ScriptFlags extends SpeakerFlags, CaptionFlags, ChapterChoice, RunFlags, TagFlags {
  readonly output: string;
  readonly scriptFormat?: ScriptFormat;
  readonly cast?: readonly CastMember[];
  readonly castFile?: string;
  readonly dropSounds?: true;
  readonly lexicon?: readonly string[];
  readonly gap: number;
  readonly chapterGap: number;
  readonly timing?: Timing;
  readonly loudness: number | 'off';
  readonly only?: string;
  readonly redo?: readonly string[];
  readonly chapters?: readonly string[];
  readonly stems?: string;
  readonly overlay?: Overlay;
  readonly overlayAudio?: OverlayAudio;
}

/** Creates the options of `foley script` that name the script and the recording. */
export function outputOptions(): Option[] {
  return [
    textOption(
      '-o, --output <path>',
      `the recording: ${FILE_FORMATS.map((format) => `.${format}`).join(', ')}; or a read-along book: .epub (required)`,
    ).makeOptionMandatory(),
    choiceOption(
      '--script-format <format>',
      `format of the script: ${SCRIPT_FORMATS.join(', ')} (default: by the extension)`,
      SCRIPT_FORMATS,
    ),
    ...chapterOptions(),
    dropSoundsOption(),
    ...tagOptions('the recording'),
  ];
}

/** Creates the options for files that are written in addition to the recording (for example, subtitles). */
export function fileOptions(): Option[] {
  return [
    subtitlesOption(),
    textOption('--timings <path>', 'write word times, as .json'),
    listOption(
      '--chapters <path>',
      'write the chapters, as .json (Podcasting 2.0) or .txt (ffmpeg)',
      filled('--chapters'),
    ),
    textOption('--stems <dir>', 'write the track of each speaker, all of the same length'),
    overlayOption(),
    choiceOption(
      '--overlay-audio <format>',
      'audio in a read-along book: mp3 or m4a (default: mp3)',
      OVERLAY_AUDIO,
    ),
  ];
}

/** Creates the options that choose voices for the speakers of a script. */
export function castOptions(): Option[] {
  return [
    listOption('--cast <name=voice>', 'voice of a speaker: NAME=VOICE,speed=0.9', parseCastFlag),
    new Option('--cast-file <file>', 'voices of the speakers, in JSON').argParser(
      filled('--cast-file'),
    ),
    ...voiceOptions(),
    modelOption(),
  ];
}

/** Creates the options for the silences, timing and loudness of a recording, and for the lines to speak. */
export function soundOptions(): Option[] {
  return [
    durationOption('--gap <duration>', 'silence between lines', parseGap).default(300, '300ms'),
    durationOption('--chapter-gap <duration>', 'silence before a chapter', parseGap).default(
      1_500,
      '1.5s',
    ),
    choiceOption(
      '--timing <mode>',
      'long lines of a timed script: stretch, overlap or exact (default: stretch)',
      TIMINGS,
    ),
    loudnessOption().default(-16, '-16'),
    new Option('--only <lines>', 'make a recording of these lines only, such as 10-20'),
    listOption('--redo <line>', 'speak this line again, by number or id', filled('--redo')),
  ];
}

function parseGap(flag: string, given: string): number {
  const ms = parseDuration(flag, given);
  if (ms <= PAUSE_MAX_MS) return ms;
  throw usageFailure(`${flag} is "${given}"; it takes at most ${durationText(PAUSE_MAX_MS)}`);
}
