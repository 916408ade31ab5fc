import type { ApiClient } from '../../src/api/client.ts';
import { allVoices, getVoice } from '../../src/api/voices.ts';
import type { Connection } from '../../src/cli/context.ts';
import { resolveSetting } from '../../src/config/settings.ts';
import { FAMILIES } from '../../src/contract/families.ts';
import { REALTIME_LANGUAGE_MAX_CHARACTERS } from '../../src/contract/realtime/limits.ts';
import type { SpeechControls } from '../../src/contract/schemas/speech.ts';
import { configFailure, Failure } from '../../src/errors/failure.ts';
import type { LivePlan } from '../../src/live/state.ts';
import { chooseVoice } from '../../src/speech/voice-choice.ts';
import { countCodePoints } from '../../src/text/code-points.ts';
import { controlsToSend } from '../speech-flags.ts';
import type { LiveFlags } from './live-flags.ts';
import type { LiveTask } from './live-task.ts';

/** When neither a flag, a setting nor the voice says which model speaks (contract, section 10). */
const LAST_RESORT_MODEL = 'vendor-s21pro-flash';

/**
 * `start.request` of a conversation (spec section 4.10): who speaks, and how.
 * @throws Failure (usage, config) when there is no such voice, or a setting is none for realtime speech
 */
export async function liveRequest(
  task: LiveTask,
  { client, target }: Connection,
): Promise<LivePlan['request']> {
  const { context, flags, plan, protocol, settings } = task;
  const query = { includePersonal: true, signal: context.signal };
  const voiceId = await chooseVoice(
    {
      voice: flags.voice,
      voiceName: flags.voiceName,
      configuredVoice: resolveSetting(settings, 'voice')?.value,
      target,
    },
    async function* () {
      for await (const { voice } of allVoices(client, query)) yield voice;
    },
  );
  const given = flags.model ?? resolveSetting(settings, 'model')?.value;
  const modelId = given ?? (await modelOf(client, voiceId, context.signal));
  const both = { voiceId, modelId, format: plan.format, ...paceOf(flags) };
  const { instruction, ...controls } = controlsOf(task);
  if (protocol === 'v3') return { ...both, ...controls };
  return {
    parameterProfile: 'product_v1',
    ...both,
    ...controls,
    ...(instruction === undefined ? {} : { instructions: instruction }),
    ...(flags.optimizeInstructions === true ? { optimizeInstructions: true } : {}),
  };
}

function paceOf({ chunkLength, latency }: LiveFlags) {
  return {
    ...(chunkLength === undefined ? {} : { chunkLength }),
    ...(latency === undefined ? {} : { latency }),
  };
}

/** Those of other protocols were refused before. */
function controlsOf({ flags, settings }: LiveTask): Omit<SpeechControls, 'filterEmoji'> {
  const controls = controlsToSend(flags, settings);
  const { language = '' } = controls;
  if (countCodePoints(language) <= REALTIME_LANGUAGE_MAX_CHARACTERS) return controls;
  throw configFailure(
    `the configured language has more than ${REALTIME_LANGUAGE_MAX_CHARACTERS} characters, which realtime speech does not take`,
    'Give another with --language.',
  );
}

/** The default model of the family that the voice is of; where that cannot be found out, the last resort. */
async function modelOf(client: ApiClient, voiceId: string, signal: AbortSignal): Promise<string> {
  const modelIds = await getVoice(client, voiceId, signal).then(
    ({ value }) => value.modelIds,
    (error: unknown): readonly string[] => {
      if (error instanceof Failure && error.exit === 'rejected') return [];
      throw error;
    },
  );
  const family = FAMILIES.find(({ models }) => models.some((model) => modelIds.includes(model)));
  return family?.defaultModel ?? LAST_RESORT_MODEL;
}
