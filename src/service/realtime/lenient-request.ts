import { PITCH_RANGE } from '../../contract/limits.ts';
import { CHUNK_LENGTH_RANGE } from '../../contract/realtime/limits.ts';
import type { RealtimeProtocol } from '../../contract/realtime/protocols.ts';
import { ProductStartRequest, StartRequest } from '../../contract/realtime/start-request.ts';
import { familyOf } from '../catalogue/catalogue.ts';
import type { CatalogueModel } from '../catalogue/models.ts';
import { deliver } from '../synthesis/controls.ts';
import { isWithin } from '../synthesis/fit.ts';
import { describeRange } from '../wording/describe-allowed.ts';
import { showText } from '../wording/show-value.ts';
import type { RequestWarning } from './machine/state.ts';
import type { RequestFields, RequestPlan, RequestSubject } from './request-plan.ts';
import { checkRequest, requireFormat } from './request-plan.ts';

/**
 * Plans a request of v3, or of `product_v1` in v2: what the model cannot follow is left out with a warning,
 * and what is used is told in `effectiveRequest` (spec section 4.10).
 * @throws RequestProblem
 */
export function planLenient(request: RequestFields, subject: RequestSubject): RequestPlan {
  const { model, protocol, voice, nameOf } = subject;
  const schema = protocol === 'v2' ? ProductStartRequest : StartRequest;
  const known = withoutUnknown(request, Object.keys(schema.properties), subject);
  const fitting = withinRanges(known.request, subject);
  const checked: StartRequest | ProductStartRequest = checkRequest(
    schema,
    fitting.request,
    protocol,
  );
  const format = requireFormat(checked.format ?? 'mp3', model, nameOf('format'));
  const product = isProduct(checked) ? checked : undefined;
  const controls = { ...checked, ...product, instruction: product?.instructions };
  const { ignored, ...delivery } = deliver(controls, model, voice);
  const unused = new Set([
    ...ignored.map((name) => (name === 'instruction' ? 'instructions' : name)),
    ...['latency', 'optimizeInstructions'].filter((name) => Object.hasOwn(checked, name)),
  ]);
  const defaults = defaultsOf(model, protocol);
  const given = { ...checked, format };
  for (const name of unused) Reflect.deleteProperty(given, name);
  const effectiveRequest = { ...defaults, ...given };
  const warnings = [
    ...known.warnings,
    ...fitting.warnings,
    ...[...unused].map((name) => unsupported(nameOf(name), model)),
  ];
  const chunkLength = checked.chunkLength;
  const plan = { voice, model, format, delivery, chunkLength };
  if (protocol === 'v3') {
    const ready = { protocolVersion: protocol, effectiveRequest, warnings };
    return { ...plan, ready, warnings: [] };
  }
  const ready = { provider: model.family, effectiveRequest: { ...effectiveRequest, ...PRODUCT } };
  return { ...plan, ready, warnings };
}

const PRODUCT = { parameterProfile: 'product_v1' } as const;

function isProduct(request: StartRequest | ProductStartRequest): request is ProductStartRequest {
  return 'parameterProfile' in request;
}

interface Adapted {
  readonly request: RequestFields;
  readonly warnings: readonly RequestWarning[];
}

function withoutUnknown(
  request: RequestFields,
  allowed: readonly string[],
  { nameOf }: RequestSubject,
): Adapted {
  const names = Object.keys(request).filter((name) => !allowed.includes(name));
  const known = Object.entries(request).filter(([name]) => allowed.includes(name));
  const warnings = names.map((name) => ({
    code: 'unknown_parameter',
    message: `${showText(nameOf(name))} is not known here and was left out`,
    path: nameOf(name),
  }));
  return { request: Object.fromEntries(known), warnings };
}

/** Numbers outside of what the model takes: v2 takes the nearest, v3 does without. */
function withinRanges(request: RequestFields, subject: RequestSubject): Adapted {
  const { protocol, nameOf } = subject;
  const ranges = rangesOf(subject.model);
  const warnings: RequestWarning[] = [];
  const entries = Object.entries(request).flatMap(([name, value]) => {
    const range = ranges.get(name);
    if (range === undefined || typeof value !== 'number' || isWithin(value, range)) {
      return [[name, value] as const];
    }
    const path = nameOf(name);
    const near = Math.min(range.maximum, Math.max(range.minimum, value));
    const isClamped = protocol === 'v2' && !Number.isNaN(value);
    const then = isClamped ? `${near} is used` : 'it was left out';
    const message = `${path} is ${value}; allowed is ${describeRange(range)}, and ${then}`;
    warnings.push({ code: isClamped ? 'clamped' : 'out_of_range', message, path });
    return isClamped ? [[name, near] as const] : [];
  });
  return { request: Object.fromEntries(entries), warnings };
}

interface Range {
  readonly minimum: number;
  readonly maximum: number;
}

function rangesOf(model: CatalogueModel): ReadonlyMap<string, Range> {
  const { ranges } = familyOf(model);
  return new Map<string, Range>([
    ...Object.entries(ranges),
    ['pitch', PITCH_RANGE],
    ['chunkLength', CHUNK_LENGTH_RANGE],
  ]);
}

/** What is used where nothing was given, or what was given does nothing. */
function defaultsOf({ controls }: CatalogueModel, protocol: RealtimeProtocol) {
  return {
    ...(controls.speed ? { speed: 1 } : {}),
    ...(controls.volume ? { volume: 0 } : {}),
    ...(protocol === 'v2' && controls.pitch ? { pitch: 0 } : {}),
    textNormalization: true,
  };
}

function unsupported(path: string, { id }: CatalogueModel): RequestWarning {
  return {
    code: 'unsupported_parameter',
    message: `${path} does nothing with ${id} and was left out`,
    path,
  };
}
