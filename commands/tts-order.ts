import type { JobApi, JobOptions } from '../src/api/speech-jobs.ts';
import type { SpeechOptions } from '../src/api/speech.ts';
import { recognizedBy } from '../src/api/speech.ts';
import type { SpeechOrder } from '../src/api/speech-order.ts';
import { allVoices } from '../src/api/voices.ts';
import type { AudioFormat } from '../src/contract/audio-formats.ts';
import type { Connection, Context } from '../src/cli/context.ts';
import type { SettingSources } from '../src/config/settings.ts';
import { resolveSetting } from '../src/config/settings.ts';
import { chooseVoice } from '../src/speech/voice-choice.ts';
import type { SpeechFlags } from './speech-flags.ts';
import { chooseControls } from './tts-surface.ts';
import type { Task } from './tts-task.ts';

/**
 * What is asked of the service, with the voice looked up where only its name is known.
 * @throws Failure (usage) when there is no such voice
 */
export async function speechOrder(
  { chosen, context, flags, modelId, plan: { format }, settings, text }: Task,
  connection: Connection,
): Promise<SpeechOrder & { readonly format: AudioFormat }> {
  const voiceId = await namedVoice(context, flags, settings, connection);
  const { controls, unsent } = chooseControls(flags, settings, chosen);
  for (const line of unsent) context.io.notice(line);
  return {
    text,
    voiceId,
    ...(modelId === undefined ? {} : { modelId }),
    format,
    ...controls,
  };
}

/**
 * The id of the voice that flags, the environment or the configuration name; all voices are looked
 * through where only a name is known.
 * @throws Failure (usage) when there is no such voice
 */
export function namedVoice(
  { signal }: Context,
  { voice, voiceName }: Pick<SpeechFlags, 'voice' | 'voiceName'>,
  settings: SettingSources,
  { client, target }: Connection,
): Promise<string> {
  const configuredVoice = resolveSetting(settings, 'voice')?.value;
  return chooseVoice({ voice, voiceName, configuredVoice, target }, async function* () {
    const query = { includePersonal: true, signal };
    for await (const listed of allVoices(client, query)) yield listed.voice;
  });
}

/** Under which ids it is asked: a surface has a key, takes the request id as one, or has none. */
export function speechOptions({ chosen: { name }, context, flags }: Task): SpeechOptions {
  const { idempotencyKey, requestId } = flags;
  const header = recognizedBy(name);
  const own = idempotencyKey ?? (header === 'X-Request-Id' ? requestId : undefined);
  return {
    surface: name,
    cache: flags.cache,
    idempotencyKey:
      header === undefined
        ? undefined
        : { value: own ?? context.random.uuid(), madeByTool: own === undefined },
    requestId,
    signal: context.signal,
  };
}

/** The same for a job. */
export function jobOptions(task: Task, api: JobApi): JobOptions {
  const { idempotencyKey, requestId, signal } = speechOptions(task);
  if (idempotencyKey === undefined) throw new Error(`${task.chosen.flag} has no jobs`);
  return { api, idempotencyKey, requestId, signal };
}
