import { Type } from 'typebox';
import type { Static, TObject } from 'typebox';
import type { NumberRange } from '../../contract/families.ts';
import { PITCH_RANGE } from '../../contract/limits.ts';
import {
  StartRequest,
  LegacyStartRequest,
  ProductStartRequest,
} from '../../contract/realtime/client-messages.ts';
import { CHUNK_LENGTH_RANGE } from '../../contract/realtime/limits.ts';
import type { Pronunciation } from '../../contract/speech.ts';
import { v2FieldName, PARAMETER_PROFILES } from '../../contract/realtime/protocols.ts';
import type { RealtimeProtocol, RealtimeFormat } from '../../contract/realtime/protocols.ts';
import { requireValid } from '../http/validation.ts';
import { anyOf, showValue, describeRange, showText } from '../http/validation.ts';
import { ServiceError } from '../service-error.ts';
import {
  checkRanges,
  deliver,
  isWithin,
  requireModel,
  requireVoice,
} from '../speech/plan-speech.ts';
import type { EngineSettings } from '../engine/speech-engine.ts';
import { pronunciationProblems } from '../speech/pronunciations.ts';
import type { Catalogue, SpeakingVoice } from '../voices/catalogue.ts';
import { familyOf } from '../voices/catalogue-voice.ts';
import type { CatalogueModel } from '../voices/model-catalogue.ts';
import { problemOf, withoutNulls } from './client-message.ts';
import type { Problem } from './client-message.ts';
import type { RequestWarning, ReadyFields } from './machine/state.ts';

/**
 * Validates the field `request` of a `start` message (docs/api/realtime.md). The protocol decides what happens to a
 * value out of range: v3 ignores it with a warning, v2 with the profile `product_v1` clamps it with a warning, and v2
 * with the default profile refuses the request.
 * @throws RequestProblem
 */
export function planRequest(
  given: RequestFields,
  { protocol, catalogue }: { readonly protocol: RealtimeProtocol; readonly catalogue: Catalogue },
): RequestPlan {
  const isLegacy = protocol === 'v2' && isLegacyProfile(given['parameterProfile']);
  const ofV2 = isLegacy ? LegacyStartRequest : ProductStartRequest;
  const request = withoutNulls(protocol === 'v2' ? ofV2 : StartRequest, given);
  const { voiceId, modelId } = checkRequest(Speakers, request, protocol);
  const nameOf = nameIn(protocol);
  const voice = withProblem('voice_not_found', nameOf('voiceId'), (field) =>
    requireVoice(voiceId, catalogue, field),
  );
  const model = withProblem('model_not_found', nameOf('modelId'), (field) =>
    requireModel(modelId, voice, { catalogue, field }),
  );
  const { pronunciations } = checkRequest(Pronounced, request, protocol);
  const [unable] = pronunciationProblems(pronunciations, voice);
  if (unable !== undefined) {
    const { field, message } = unable;
    throw new RequestProblem({ code: 'unsupported_parameter', message, path: nameOf(field) });
  }
  const subject = { voice, model, protocol, nameOf };
  return isLegacy ? planLegacy(request, subject) : planLenient(request, subject);
}

const Speakers = Type.Object({
  voiceId: StartRequest.properties.voiceId,
  modelId: StartRequest.properties.modelId,
});

const Pronounced = Type.Object({ pronunciations: StartRequest.properties.pronunciations });

const [LEGACY, PRODUCT] = PARAMETER_PROFILES;

function isLegacyProfile(profile: unknown): boolean {
  if (profile === undefined || profile === null || profile === LEGACY) return true;
  if (profile === PRODUCT) return false;
  const path = 'request.parameter_profile';
  const message = `${path} is ${showValue(profile)}; allowed: ${anyOf(PARAMETER_PROFILES)}`;
  throw new RequestProblem({ code: 'invalid_message', message, path });
}

// v2 without a profile (docs/api/realtime.md): ignores unsupported controls, with a warning unless they are hints, but
// refuses unknown fields and unsupported emotions or instructions.
function planLegacy(request: RequestFields, subject: RequestSubject): RequestPlan {
  const { model, voice, protocol, nameOf } = subject;
  refuseUnknown(request, subject);
  const checked = checkRequest(LegacyStartRequest, request, protocol);
  const format = requireFormat(checked.format ?? 'mp3', model, nameOf('format'));
  const { volume, language: _hint, ...controls } = checked;
  const [outside] = checkRanges(controls, model, nameOf);
  if (outside !== undefined) {
    const { field: path, message } = outside;
    throw new RequestProblem({ code: 'invalid_message', message, path });
  }
  const { gainDb, ignored, settings } = deliver(
    { ...controls, instruction: checked.instructions, volume: decibelsOf(volume) },
    model,
    voice,
  );
  if (ignored.includes('emotion')) refuse('emotion', subject);
  if (ignored.includes('instruction')) refuse('instructions', subject);
  if (checked.optimizeInstructions !== undefined) refuse('optimizeInstructions', subject);
  const ready = { provider: model.family };
  const warnings = ignored.map((name) => unsupported(nameOf(name), model));
  const { controls: known } = model;
  const effectiveRequest = withoutFields(
    {
      ...(known.speed ? { speed: 1 } : {}),
      ...(known.volume ? { volume: 1 } : {}),
      ...checked,
      format,
      parameterProfile: LEGACY,
    },
    [...ignored, 'latency'],
  );
  const { chunkLength, pronunciations } = checked;
  const plan = { voice, model, format, settings, gainDb, chunkLength, pronunciations };
  return { ...plan, effectiveRequest, ready, warnings };
}

function refuseUnknown(request: RequestFields, { nameOf }: RequestSubject): void {
  const allowed = Object.keys(LegacyStartRequest.properties);
  const name = Object.keys(request).find((one) => !allowed.includes(one));
  if (name === undefined) return;
  const names = allowed.map((one) => nameOf(one).replace('request.', ''));
  const path = nameOf(name);
  const message = `${showText(path)} is unknown; allowed: ${anyOf(names)}`;
  throw new RequestProblem({ code: 'unsupported_parameter', message, path });
}

function refuse(name: string, { nameOf, model }: RequestSubject): never {
  const path = nameOf(name);
  const message = `${path} has no effect with ${model.id}`;
  throw new RequestProblem({ code: 'unsupported_parameter', message, path });
}

// A volume factor; the result is limited to the range of HTTP speech.
function decibelsOf(volume: number | undefined): number | undefined {
  if (volume === undefined) return undefined;
  return Math.max(-LOUDEST_DB, 20 * Math.log10(volume));
}

// For the maximum volume factor, which is 10.
const LOUDEST_DB = 20;

// v3, and v2 with `product_v1`: ignores unsupported controls with a warning, and reports the resulting values as
// `effectiveRequest` (docs/api/realtime.md).
function planLenient(request: RequestFields, subject: RequestSubject): RequestPlan {
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
  const { gainDb, ignored, settings } = deliver(controls, model, voice);
  const unused = new Set([
    ...ignored.map((name) => (name === 'instruction' ? 'instructions' : name)),
    ...['latency', 'optimizeInstructions'].filter((name) => Object.hasOwn(checked, name)),
  ]);
  const effectiveRequest = {
    ...defaultsOf(model, protocol),
    ...withoutFields({ ...checked, format }, [...unused]),
  };
  const omitted = [...unused].map((name) => unsupported(nameOf(name), model));
  const adapted = fitting.warnings.filter(({ path }) => !omitted.some((one) => one.path === path));
  const warnings = [...known.warnings, ...adapted, ...omitted];
  const { chunkLength, pronunciations } = checked;
  const spoken = { voice, model, format, settings, gainDb, chunkLength, pronunciations };
  const plan = { ...spoken, effectiveRequest };
  if (protocol === 'v3') {
    const ready = { protocolVersion: protocol, effectiveRequest, warnings };
    return { ...plan, ready, warnings: [] };
  }
  const ready = {
    provider: model.family,
    effectiveRequest: { ...effectiveRequest, ...PRODUCT_REQUEST },
  };
  return { ...plan, ready, warnings };
}

function withoutFields<Fields extends object>(fields: Fields, names: readonly string[]): Fields {
  const rest = { ...fields };
  for (const name of names) Reflect.deleteProperty(rest, name);
  return rest;
}

const PRODUCT_REQUEST = { parameterProfile: 'product_v1' } as const;

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
    message: `${showText(nameOf(name))} is unknown and was omitted`,
    path: nameOf(name),
  }));
  return { request: Object.fromEntries(known), warnings };
}

// Clamps numbers out of range in v2; omits them in v3.
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
    const clamped = Math.min(range.maximum, Math.max(range.minimum, value));
    const isClamped = protocol === 'v2' && !Number.isNaN(value);
    const then = isClamped ? `${clamped} is used` : 'it was omitted';
    const message = `${path} is ${value}; allowed: ${describeRange(range)}; ${then}`;
    warnings.push({ code: isClamped ? 'clamped' : 'out_of_range', message, path });
    return isClamped ? [[name, clamped] as const] : [];
  });
  return { request: Object.fromEntries(entries), warnings };
}

function rangesOf(model: CatalogueModel): ReadonlyMap<string, NumberRange> {
  const { ranges } = familyOf(model);
  return new Map<string, NumberRange>([
    ...Object.entries(ranges),
    ['pitch', PITCH_RANGE],
    ['chunkLength', CHUNK_LENGTH_RANGE],
  ]);
}

function defaultsOf({ controls }: CatalogueModel, protocol: RealtimeProtocol) {
  return {
    ...(controls.speed ? { speed: 1 } : {}),
    ...(controls.volume ? { volume: 0 } : {}),
    ...(protocol === 'v2' && controls.pitch ? { pitch: 0 } : {}),
    textNormalization: true,
  };
}

function unsupported(path: string, { id: modelId }: CatalogueModel): RequestWarning {
  return {
    code: 'unsupported_parameter',
    message: `${path} has no effect with ${modelId} and was omitted`,
    path,
  };
}

export interface RequestPlan {
  readonly voice: SpeakingVoice;
  readonly model: CatalogueModel;
  readonly format: RealtimeFormat;
  readonly settings: EngineSettings;
  readonly gainDb: number;
  /** Maximum number of characters that the engine speaks in one call; `undefined` for the engine's own limit. */
  readonly chunkLength: number | undefined;
  readonly pronunciations: readonly Pronunciation[] | undefined;
  /** The request with its defaults, and without fields that have no effect. Equal requests are the same request. */
  readonly effectiveRequest: RequestFields;
  readonly ready: ReadyFields;
  /** Warnings to send as separate messages after `ready`; empty if `ready` itself contains them. */
  readonly warnings: readonly RequestWarning[];
}

/** Thrown to refuse a realtime request; contains the fields of the `error` message for the client. */
export class RequestProblem extends Error {
  override readonly name = 'RequestProblem';
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}

// Not validated; the fields have their v3 names.
type RequestFields = Readonly<Record<string, unknown>>;

interface RequestSubject {
  readonly voice: SpeakingVoice;
  readonly model: CatalogueModel;
  readonly protocol: RealtimeProtocol;
  /** Returns the path of a request field for messages. In v2, the path contains the v2 name of the field. */
  readonly nameOf: (field: string) => string;
}

function nameIn(protocol: RealtimeProtocol): RequestSubject['nameOf'] {
  return (field) => `request.${protocol === 'v2' ? v2FieldName(field) : field}`;
}

function checkRequest<Schema extends TObject>(
  schema: Schema,
  request: RequestFields,
  protocol: RealtimeProtocol,
): Static<Schema> {
  try {
    return requireValid(schema, request, 'request');
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new RequestProblem(problemOf(error, protocol, 'request.'));
  }
}

// Runs a check that HTTP speech uses too, and converts its ServiceError. An unavailable model becomes
// `provider_unavailable`, any other problem the given code.
function withProblem<Result>(
  code: Problem['code'],
  path: string,
  check: (field: string) => Result,
): Result {
  try {
    return check(path);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const isUnavailable = error.code === 'ERR_MODEL_UNAVAILABLE';
    const { message } = error;
    throw new RequestProblem({
      code: isUnavailable ? 'provider_unavailable' : code,
      message,
      path,
    });
  }
}

function requireFormat(
  format: RealtimeFormat,
  model: CatalogueModel,
  path: string,
): RealtimeFormat {
  const formats = realtimeFormats(model);
  if (formats.includes(format)) return format;
  const message = `${path} is ${format}; ${model.id} supports ${anyOf(formats)}`;
  throw new RequestProblem({ code: 'unsupported_parameter', message, path });
}

/**
 * Returns the audio formats that a model offers for realtime speech. Opus and pcm are always included, because the
 * service converts audio.
 */
export function realtimeFormats({ outputFormats }: CatalogueModel): readonly RealtimeFormat[] {
  const files = (['mp3', 'wav'] as const).filter((format) => outputFormats.includes(format));
  return [...files, 'opus', 'pcm'];
}

/**
 * Returns which fields of a realtime request a model supports. For v2, these are fields of the profile `product_v1`.
 */
export function realtimeControls(
  model: CatalogueModel,
  protocol: RealtimeProtocol,
): Record<string, boolean> {
  const { pitch, ...controls } = model.controls;
  const { emotion, instruction: instructions } = model;
  const ofV2 = { pitch, emotion, instructions, optimizeInstructions: false };
  return { ...controls, chunkLength: true, latency: false, ...(protocol === 'v2' ? ofV2 : {}) };
}
