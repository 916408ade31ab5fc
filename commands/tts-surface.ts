import { recognizedBy } from '../src/api/speech.ts';
import { hasField } from '../src/api/speech-order.ts';
import type { SettingSources } from '../src/config/settings.ts';
import { describeOrigin, resolveSetting } from '../src/config/settings.ts';
import type { ControlName } from '../src/contract/generated/speech-controls.ts';
import type { SpeechControls } from '../src/contract/schemas/speech.ts';
import type { SpeechSurface, SurfaceName } from '../src/contract/speech-surfaces.ts';
import { SPEECH_SURFACES } from '../src/contract/speech-surfaces.ts';
import { usageFailure } from '../src/errors/failure.ts';
import type { SpeechFlags } from './speech-flags.ts';
import { CONFIGURABLE_CONTROLS, CONTROL_NAMES, controlsToSend, flagOf } from './speech-flags.ts';

/** The flags that say which interface is asked, and those that not every interface has. */
export interface SurfaceFlags extends SpeechFlags {
  readonly api?: SurfaceName;
  readonly cache?: true;
  readonly idempotencyKey?: string;
  readonly requestId?: string;
}

/** An interface as the person chose it. */
export interface ChosenSurface {
  readonly name: SurfaceName;
  readonly surface: SpeechSurface;
  /** For messages: `--api v2`. */
  readonly flag: string;
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

export interface ChosenControls {
  readonly controls: SpeechControls;
  /** What is configured and not sent, because the interface does not have it, as lines for a person. */
  readonly unsent: readonly string[];
}

/** The controls to send: those that were given, and those that are configured and can be sent. */
export function chooseControls(
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
