import type { JobApi, JobOptions } from '../../api/resources/jobs.ts';
import type { SpeechOptions, SpeechOrder } from '../../api/resources/speech.ts';
import { recognizedBy, hasField } from '../../api/resources/speech.ts';
import { allVoices } from '../../api/resources/voices.ts';
import type { SettingSources } from '../../config/settings.ts';
import { resolveSetting, describeOrigin } from '../../config/settings.ts';
import type { ControlName } from '../../contract/generated/speech-controls.ts';
import type { SpeechControls } from '../../contract/speech.ts';
import type { SurfaceName } from '../../contract/speech-surfaces.ts';
import { SPEECH_SURFACES } from '../../contract/speech-surfaces.ts';
import type { AudioFormat } from '../../contract/values.ts';
import { usageFailure } from '../../errors/failure.ts';
import { chooseVoice } from '../../speech/voice-choice.ts';
import type { Context, Connection } from '../command.ts';
import type { SpeechFlags } from '../flags/speech.ts';
import { CONFIGURABLE_CONTROLS, CONTROL_NAMES, controlsToSend, flagOf } from '../flags/speech.ts';
import type { Task, ChosenSurface, SurfaceFlags } from './task.ts';

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

/** Every interface, in the order of the help. */
export const SURFACE_NAMES = Object.keys(SPEECH_SURFACES).filter(
  (name): name is SurfaceName => name in SPEECH_SURFACES,
);

/**
 * The interface that is asked, with everything that the flags want of it.
 * @throws Failure (usage) naming the flag that it does not have
 */
export function chooseSurface(flags: SurfaceFlags): ChosenSurface {
  const name = flags.api ?? 'v3';
  const chosen = { name, surface: SPEECH_SURFACES[name], flag: `--api ${name}` };
  refuseControls(flags, chosen);
  refuseKey(flags, chosen);
  refuseCache(flags, chosen);
  return chosen;
}

function refuseControls(flags: SurfaceFlags, { flag, surface }: ChosenSurface): void {
  const missing = CONTROL_NAMES.find(
    (name) => flags[name] !== undefined && !hasField(surface, name),
  );
  if (missing === undefined) return;
  const known = CONTROL_NAMES.filter((name) => hasField(surface, name));
  throw usageFailure(
    `${flagOf(missing, flags[missing])} is not known to ${flag}`,
    `It has ${known.map((name) => flagOf(name)).join(', ')}.`,
  );
}

/** Where the request id is the key there cannot be another, and where there is no key none at all. */
function refuseKey(
  { idempotencyKey, requestId }: SurfaceFlags,
  { flag, name }: ChosenSurface,
): void {
  if (idempotencyKey === undefined) return;
  const header = recognizedBy(name);
  if (header === undefined) {
    throw usageFailure(
      `--idempotency-key is not known to ${flag}, which recognizes no repetition`,
      'Leave it out, or use another --api.',
    );
  }
  if (header === 'X-Request-Id' && requestId !== undefined && requestId !== idempotencyKey) {
    throw usageFailure(
      `--request-id and --idempotency-key differ, but with ${flag} the request id is the key`,
      'Give one of them.',
    );
  }
}

function refuseCache({ cache }: SurfaceFlags, { flag, surface }: ChosenSurface): void {
  if (cache !== true || surface.canCache) return;
  throw usageFailure(`--cache is not known to ${flag}`, 'It belongs to --api v1.');
}

/**
 * The model to ask for, if any.
 * @throws Failure (usage) where the interface needs one and none is given
 */
export function chooseModel(
  flags: SurfaceFlags,
  settings: SettingSources,
  { flag, surface }: ChosenSurface,
): string | undefined {
  const model = resolveSetting(settings, 'model', flags.model)?.value;
  if (model !== undefined || !surface.isModelRequired) return model;
  throw usageFailure(
    `${flag} needs a model`,
    'Name one with --model or FOLEY_MODEL; `foley models list` shows them.',
  );
}

interface ChosenControls {
  readonly controls: SpeechControls;
  /** What is configured and not sent, because the interface does not have it, as lines for a person. */
  readonly unsent: readonly string[];
}

/** The controls to send: those that were given, and those that are configured and can be sent. */
function chooseControls(
  flags: SurfaceFlags,
  settings: SettingSources,
  { flag, surface }: ChosenSurface,
): ChosenControls {
  const isSent = (name: string): boolean =>
    CONTROL_NAMES.some((control) => control === name && hasField(surface, control));
  const all = Object.entries(controlsToSend(flags, settings));
  const unsent = CONFIGURABLE_CONTROLS.filter((name: ControlName) => !isSent(name));
  return {
    controls: Object.fromEntries(all.filter(([name]) => isSent(name))),
    unsent: unsent.flatMap((name) => {
      const setting = resolveSetting(settings, name);
      if (setting === undefined) return [];
      return [`foley: ${name} of ${describeOrigin(setting.origin)} is not sent: ${flag} has none`];
    }),
  };
}
