import { Option } from 'commander';
import {
  controlOptions,
  modelOption,
  outputOptions,
  voiceOptions,
} from '../shared/flags/speech.ts';
import {
  choiceOption,
  durationOption,
  integerOption,
  oneOf,
  textOption,
  textWithin,
} from '../../src/cli/flags/values.ts';
import type { SpeakerFlags } from '../shared/flags/speech.ts';
import type { ControlName } from '../../src/contract/generated/speech-controls.ts';
import {
  CHUNK_LENGTH_RANGE,
  REALTIME_ID_MAX_CHARACTERS,
  REALTIME_LANGUAGE_MAX_CHARACTERS,
} from '../../src/contract/realtime/limits.ts';
import type { RealtimeMode, RealtimeProtocol } from '../../src/contract/realtime/protocols.ts';
import { REALTIME_MODES } from '../../src/contract/realtime/protocols.ts';
import { FILE_FORMATS } from '../../src/contract/values.ts';
import type { SegmentName } from '../../src/live/feed-text.ts';
import { SEGMENT_NAMES } from '../../src/live/feed-text.ts';
import type { DocumentFlags } from '../../src/speech/speech-text.ts';
import type { TextFormat } from '../../src/text/formats/text-formats.ts';
import { toJson } from '../../src/text/display.ts';

/** The values of `--text-format` of `foley live`: formats of texts without pauses or times. */
export const LIVE_TEXT_FORMATS: readonly TextFormat[] = [
  'plain',
  'markdown',
  'docx',
  'odt',
  'rtf',
  'fb2',
];

const LIVE_FORMATS = [...FILE_FORMATS, 'pcm'] as const;

export interface LiveFlags extends SpeakerFlags, DocumentFlags, ProtocolFlag {
  readonly file?: string;
  readonly lexicon?: readonly string[];
  readonly output?: string;
  readonly clobber: boolean;
  readonly play?: true;
  readonly player?: string;
  readonly format?: (typeof LIVE_FORMATS)[number];
  readonly optimizeInstructions?: true;
  readonly mode?: RealtimeMode;
  readonly segmentBy?: SegmentName;
  /** Time without new input, in milliseconds, after which an incomplete segment is spoken. */
  readonly flushAfter?: number;
  readonly chunkLength?: number;
  readonly latency?: string;
  readonly requestId?: string;
  readonly retryFailed?: true;
}

const SHARED_CONTROLS = [
  'speed',
  'volume',
  'stability',
  'similarity',
  'language',
  'textNormalization',
] as const;

/** For each version of the realtime protocol, the speech controls that it supports. */
export const LIVE_CONTROLS = {
  v3: SHARED_CONTROLS,
  v2: [...SHARED_CONTROLS, 'pitch', 'emotion', 'instruction'],
} as const satisfies Readonly<Record<RealtimeProtocol, readonly ControlName[]>>;

const LATENCY_MAX_CHARACTERS = 64;

/** Creates the command-line options of `foley live`. */
export function liveOptions(): readonly Option[] {
  return [
    ...outputOptions(LIVE_TEXT_FORMATS),
    ...voiceOptions(),
    ...speechOptions(),
    ...conversationOptions().map((option) => option.helpGroup('Conversation options:')),
  ];
}

function speechOptions(): Option[] {
  return [
    modelOption('default model of the voice’s family'),
    new Option(
      '--format <format>',
      `${LIVE_FORMATS.join(', ')} (default: from the extension of --output, else mp3)`,
    ).argParser((given) => oneOf('--format', LIVE_FORMATS)(given.toLowerCase())),
    ...controlOptions(LIVE_CONTROLS.v2).map((option) => realtimeOption(option)),
    new Option('--optimize-instructions', 'v2: let the model rewrite the instruction'),
  ];
}

function realtimeOption(option: Option): Option {
  const name = option.attributeName();
  const isOfBoth = LIVE_CONTROLS.v3.some((control) => control === name);
  if (!isOfBoth) option.description = `v2: ${option.description}`;
  return name === 'language'
    ? option.argParser(textWithin('--language', REALTIME_LANGUAGE_MAX_CHARACTERS))
    : option;
}

function conversationOptions(): Option[] {
  return [
    choiceOption(
      '--mode <mode>',
      'simple speaks one text, reliable resumes after a dropped connection (default: reliable for a pipe and above 10,000 characters)',
      REALTIME_MODES,
    ),
    protocolOption(),
    choiceOption(
      '--segment-by <what>',
      `reliable: how to cut the text: ${SEGMENT_NAMES.join(', ')} (default: sentence)`,
      SEGMENT_NAMES,
    ),
    durationOption(
      '--flush-after <duration>',
      'reliable: speak an incomplete segment after this long without input (default: 700ms)',
    ),
    integerOption(
      '--chunk-length <n>',
      'characters that the model speaks at once, 50 to 1000',
      CHUNK_LENGTH_RANGE,
    ),
    textOption(
      '--latency <level>',
      'latency level; its values depend on the service',
      LATENCY_MAX_CHARACTERS,
    ),
    textOption(
      '--request-id <id>',
      'id of the request; retrying with it is not billed again',
      REALTIME_ID_MAX_CHARACTERS,
    ),
    new Option('--retry-failed', 'reliable: retry the failed segments of --request-id'),
  ];
}

const PROTOCOL_NAMES = ['v3', 'v2'] as const satisfies readonly RealtimeProtocol[];

export interface ProtocolFlag {
  readonly protocol?: RealtimeProtocol;
}

export function protocolOption(): Option {
  const about = `version of realtime speech: ${PROTOCOL_NAMES.join(', ')} (default: v3)`;
  return choiceOption('--protocol <version>', about, PROTOCOL_NAMES);
}

/** Formats any JSON value as text for the user. Does not escape the text for a terminal. */
export function formatValue(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  return Array.isArray(value) ? value.map(formatValue).join(', ') : toJson(value);
}
