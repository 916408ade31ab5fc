import type { CommandInput, Context, ServiceConnection } from '../../src/cli/command.ts';
import { controlsToSend } from '../shared/flags/speech.ts';
import { chooseTextSource } from '../shared/choose-text-source.ts';
import { noticeEncoding, planOutput } from '../shared/speech/output-plan.ts';
import { playerFor, refuseSharedStdin } from '../shared/speech/plan.ts';
import { namedVoice } from '../shared/flags/voices.ts';
import type { SettingSources } from '../../src/config/settings.ts';
import { flagName, resolveSetting } from '../../src/config/settings.ts';
import {
  SIMPLE_INPUT_MAX_CHARACTERS,
  REALTIME_LANGUAGE_MAX_CHARACTERS,
} from '../../src/contract/realtime/limits.ts';
import type {
  RealtimeFormat,
  RealtimeMode,
  RealtimeProtocol,
} from '../../src/contract/realtime/protocols.ts';
import { PRONUNCIATIONS_MAX } from '../../src/contract/limits.ts';
import type { Pronunciation, SpeechControls } from '../../src/contract/speech.ts';
import { abortable } from '../../src/system/concurrency.ts';
import { usageFailure, configFailure } from '../../src/errors/failure.ts';
import { defaultLiveModel } from '../../src/live/live-transport.ts';
import type { LivePlan } from '../../src/live/state.ts';
import type { OutputPlan } from '../../src/paid/speakers/speak-stream.ts';
import type { Player } from '../../src/speech/play.ts';
import { checkPronunciations } from '../../src/speech/pronunciations.ts';
import { codeFailure, openLexicon, refuseChapterFlags } from '../../src/speech/speech-text.ts';
import type { TextSource } from '../../src/speech/text-source.ts';
import { readText } from '../../src/speech/text-source.ts';
import { countCodePoints } from '../../src/text/code-points.ts';
import { markupNotice } from '../../src/text/formats/guess-format.ts';
import type { DocumentFormat } from '../../src/text/formats/text-formats.ts';
import { documentFormat, hasChapters } from '../../src/text/formats/text-formats.ts';
import type { Lexicon } from '../../src/text/lexicon.ts';
import type { LiveFlags } from './flags.ts';
import { LIVE_CONTROLS, LIVE_TEXT_FORMATS } from './flags.ts';

// Opus is encoded here, because the service sends a stream of its own for each segment.
const LIVE_MADE_FORMATS = ['mp3', 'wav', 'pcm'] as const;

/** The checked flags, settings and text of a `foley live` command. No request has been sent yet. */
export interface LiveTask {
  readonly context: Context;
  readonly flags: LiveFlags;
  readonly settings: SettingSources;
  readonly protocol: RealtimeProtocol;
  readonly mode: RealtimeMode;
  readonly plan: OutputPlan<RealtimeFormat>;
  readonly player: Player | undefined;
  /** The text to speak; undefined if it comes from a pipe. */
  readonly text: string | undefined;
  readonly isMarkdown: boolean;
  /** Pronunciations to apply to text from a pipe. If `text` is set, they have already been applied to it. */
  readonly lexicon: Lexicon | undefined;
}

/**
 * Checks the flags, settings and text of `foley live`. Does not read from a pipe.
 * @throws Failure of kind `usage` or `config` for an invalid flag, text or setting
 */
export async function planLive(
  context: Context,
  { args, options: flags }: CommandInput<LiveFlags>,
): Promise<LiveTask> {
  const { globals, io } = context;
  const { protocol = 'v3' } = flags;
  refuseSharedStdin(args, flags.file, globals.apiKeyFile);
  refuseControlsOfV2(flags, protocol);
  const settings = await context.settings();
  const plan = planOutput(
    {
      output: flags.output,
      format: flags.format,
      configuredFormat: resolveSetting(settings, 'format')?.value,
      json: globals.json === true,
      play: flags.play === true || flags.player !== undefined,
      stdoutIsTerminal: io.stdoutIsTerminal,
    },
    { flag: 'foley live', formats: LIVE_MADE_FORMATS },
  );
  noticeEncoding(context, plan);
  if (plan.kind === 'stdout') io.requireStdout();
  const player = await playerFor(context, flags, plan);
  const lexicon = await openLexicon(flags.lexicon, settings, context);
  const source = await chooseTextSource(context, args, flags.file);
  const format = formatOf(source, flags.textFormat);
  const isMarkdown = format === 'markdown';
  const given = await readGivenText(source, flags, format);
  const mayBeMarkup = format === undefined && flags.textFormat !== 'plain';
  const markup = mayBeMarkup ? markupNotice(given ?? '', 'the text', true) : undefined;
  if (markup !== undefined) io.notice(`foley: ${markup}`);
  const text = given === undefined ? undefined : (lexicon?.speak(given) ?? given);
  const mode = chooseMode(flags, text);
  return { context, flags, settings, protocol, mode, plan, player, text, isMarkdown, lexicon };
}

function refuseControlsOfV2(flags: LiveFlags, protocol: RealtimeProtocol): void {
  if (protocol === 'v2') return;
  const known: readonly string[] = LIVE_CONTROLS.v3;
  const given = [...LIVE_CONTROLS.v2, 'optimizeInstructions' as const].find(
    (name) => !known.includes(name) && flags[name] !== undefined,
  );
  if (given === undefined) return;
  throw usageFailure(`${flagName(given)} requires --protocol v2`, 'Omit it, or add --protocol v2.');
}

function formatOf({ args, file }: TextSource, textFormat: LiveFlags['textFormat']) {
  const format = documentFormat(textFormat, args.length > 0 ? undefined : file);
  if (format === undefined || LIVE_TEXT_FORMATS.includes(format)) return format;
  throw usageFailure(
    `foley live reads only plain text, Markdown, .docx, .odt, .rtf and .fb2, not ${file}`,
    'Use `foley tts`, or add --text-format plain to speak the file as it is.',
  );
}

async function readGivenText(
  source: TextSource,
  flags: LiveFlags,
  format: DocumentFormat | undefined,
): Promise<string | undefined> {
  const { args, file, signal, stdinIsTerminal } = source;
  const isPiped = args.length === 0 && (file === '-' || (file === undefined && !stdinIsTerminal()));
  if (flags.code !== undefined && format !== 'markdown') throw codeFailure();
  if (!hasChapters(format)) refuseChapterFlags(flags);
  // Other documents are read as a whole.
  if (isPiped && (format === undefined || format === 'markdown')) return undefined;
  if (format === undefined) return abortable(readText(source), signal);
  const { readDocumentSource } = await import('../../src/speech/document-source.ts');
  return (await abortable(readDocumentSource(source, format, flags), signal)).spoken.text;
}

function chooseMode(flags: LiveFlags, text: string | undefined): RealtimeMode {
  const isLong = text !== undefined && countCodePoints(text) > SIMPLE_INPUT_MAX_CHARACTERS;
  const mode = flags.mode ?? (text === undefined || isLong ? 'reliable' : 'simple');
  if (mode === 'reliable') {
    if (flags.retryFailed !== true || flags.requestId !== undefined) return mode;
    throw usageFailure(
      '--retry-failed requires --request-id',
      'Add --request-id with the id of the failed request.',
    );
  }
  if (isLong) {
    throw usageFailure(
      `the text has ${countCodePoints(text)} characters: --mode simple allows at most ${SIMPLE_INPUT_MAX_CHARACTERS}`,
      'Omit --mode simple.',
    );
  }
  const given = RELIABLE_FLAGS.find((name) => flags[name] !== undefined);
  if (given === undefined) return mode;
  throw usageFailure(
    `${flagName(given)} requires --mode reliable`,
    'Add --mode reliable; only a pipe or a long text uses it by default.',
  );
}

const RELIABLE_FLAGS = ['segmentBy', 'flushAfter', 'retryFailed'] as const;

/**
 * Builds the field `request` of the `start` message (docs/api/realtime.md).
 * @throws Failure of kind `usage` or `config` for an unknown voice, or for a setting that realtime speech does not
 * support
 */
export async function liveRequest(
  task: LiveTask,
  { client, target }: ServiceConnection,
): Promise<LivePlan['request']> {
  const { context, flags, lexicon, plan, protocol, settings, text } = task;
  const voiceId = await namedVoice(context, flags, client, target, text);
  const pronunciations = livePronunciations(text, lexicon);
  await checkPronunciations(client, voiceId, pronunciations, context.signal);
  const given = flags.model ?? resolveSetting(settings, 'model')?.value;
  const modelId = given ?? (await defaultLiveModel(client, voiceId, context.signal));
  const { chunkLength, latency } = flags;
  const { instruction, ...controls } = controlsOf(task);
  const request = {
    voiceId,
    modelId,
    format: plan.format,
    ...(chunkLength === undefined ? {} : { chunkLength }),
    ...(latency === undefined ? {} : { latency }),
    ...controls,
    ...(pronunciations.length === 0 ? {} : { pronunciations: [...pronunciations] }),
  };
  if (protocol === 'v3') return request;
  return {
    parameterProfile: 'product_v1',
    ...request,
    ...(instruction === undefined ? {} : { instructions: instruction }),
    ...(flags.optimizeInstructions === true ? { optimizeInstructions: true } : {}),
  };
}

// The words of a pipe are unknown when the request begins.
function livePronunciations(
  text: string | undefined,
  lexicon: Lexicon | undefined,
): readonly Pronunciation[] {
  if (lexicon === undefined) return [];
  const found = text === undefined ? lexicon.pronunciations : lexicon.pronunciationsIn(text);
  if (found.length <= PRONUNCIATIONS_MAX) return found;
  throw usageFailure(
    `the lexicon has phonemes for ${found.length} words; \`foley live\` sends at most ${PRONUNCIATIONS_MAX}`,
    'Use a shorter lexicon.',
  );
}

function controlsOf({ flags, settings }: LiveTask): SpeechControls {
  const controls = controlsToSend(flags, settings);
  const { language = '' } = controls;
  if (countCodePoints(language) <= REALTIME_LANGUAGE_MAX_CHARACTERS) return controls;
  throw configFailure(
    `the configured language is too long: realtime speech allows at most ${REALTIME_LANGUAGE_MAX_CHARACTERS} characters`,
    'Give another language with --language.',
  );
}
