import { LegacyStartRequest } from '../../contract/realtime/start-request.ts';
import { familyOf } from '../catalogue/catalogue.ts';
import { deliver } from '../synthesis/controls.ts';
import { isWithin } from '../synthesis/fit.ts';
import { anyOf, describeRange } from '../wording/describe-allowed.ts';
import { showText } from '../wording/show-value.ts';
import type { RequestFields, RequestPlan, RequestSubject } from './request-plan.ts';
import { checkRequest, requireFormat, RequestProblem } from './request-plan.ts';

/**
 * Plans a request of v2 that names no profile: unknown fields, and controls that the model does not have,
 * are refused (spec section 4.10). `language` and `latency` are hints; nothing comes of them.
 * @throws RequestProblem
 */
export function planLegacy(request: RequestFields, subject: RequestSubject): RequestPlan {
  const { model, voice, protocol, nameOf } = subject;
  refuseUnknown(request, subject);
  const checked = checkRequest(LegacyStartRequest, request, protocol);
  const format = requireFormat(checked.format ?? 'mp3', model, nameOf('format'));
  refuseOutside(checked, subject);
  const { volume, language: _hint, ...controls } = checked;
  const { ignored, ...delivery } = deliver(
    { ...controls, instruction: checked.instructions, volume: decibelsOf(volume) },
    model,
    voice,
  );
  const [first] = ignored;
  if (first !== undefined) refuse(first === 'instruction' ? 'instructions' : first, subject);
  if (checked.optimizeInstructions !== undefined) refuse('optimizeInstructions', subject);
  const { chunkLength } = checked;
  const ready = { provider: model.family };
  return { voice, model, format, delivery, chunkLength, ready, warnings: [] };
}

function refuseUnknown(request: RequestFields, { nameOf }: RequestSubject): void {
  const allowed = Object.keys(LegacyStartRequest.properties);
  const name = Object.keys(request).find((one) => !allowed.includes(one));
  if (name === undefined) return;
  const names = allowed.map((one) => nameOf(one).replace('request.', ''));
  const path = nameOf(name);
  const message = `${showText(path)} is not known here; allowed are ${anyOf(names)}`;
  throw new RequestProblem({ code: 'unsupported_parameter', message, path });
}

function refuse(name: string, { nameOf, model }: RequestSubject): never {
  const path = nameOf(name);
  const message = `${path} does nothing with ${model.id}`;
  throw new RequestProblem({ code: 'unsupported_parameter', message, path });
}

/** The volume has a range of its own here, the other controls those of the model's family. */
function refuseOutside(
  checked: { readonly speed?: number; readonly stability?: number; readonly similarity?: number },
  { model, nameOf }: RequestSubject,
): void {
  const { ranges } = familyOf(model);
  for (const name of ['speed', 'stability', 'similarity'] as const) {
    const value = checked[name];
    if (value === undefined || !model.controls[name] || isWithin(value, ranges[name])) continue;
    const path = nameOf(name);
    const message = `${path} is ${value}; ${model.id} allows ${describeRange(ranges[name])}`;
    throw new RequestProblem({ code: 'invalid_message', message, path });
  }
}

/** The legacy volume is a factor on the level, 1 is the voice's own; as decibels, within what HTTP allows. */
function decibelsOf(volume: number | undefined): number | undefined {
  if (volume === undefined) return undefined;
  return Math.max(-LOUDEST_DB, 20 * Math.log10(volume));
}

/** Ten times the level. */
const LOUDEST_DB = 20;
