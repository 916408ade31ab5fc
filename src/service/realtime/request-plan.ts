import type { Static, TObject } from 'typebox';
import { v2FieldName } from '../../contract/realtime/field-names.ts';
import type { RealtimeFormat, RealtimeProtocol } from '../../contract/realtime/protocols.ts';
import type { Catalogue, SpeakingVoice } from '../catalogue/catalogue.ts';
import { familyOf } from '../catalogue/catalogue.ts';
import type { CatalogueModel } from '../catalogue/models.ts';
import { requireValid } from '../http/validation.ts';
import { ServiceError } from '../service-error.ts';
import type { Delivery } from '../synthesis/controls.ts';
import { anyOf } from '../wording/describe-allowed.ts';
import { showValue } from '../wording/show-value.ts';
import { problemOf } from './client-message.ts';
import type { Problem } from './machine/events.ts';
import type { ReadyFields, RequestWarning } from './machine/state.ts';

/** How the segments of a request are spoken. */
export interface RequestPlan {
  readonly voice: SpeakingVoice;
  readonly model: CatalogueModel;
  readonly format: RealtimeFormat;
  readonly delivery: Pick<Delivery, 'speed' | 'pitch' | 'gainDb'>;
  /** Characters that are spoken in one go, where the client wants them counted. */
  readonly chunkLength: number | undefined;
  readonly ready: ReadyFields;
  /** What `ready` has no place for. */
  readonly warnings: readonly RequestWarning[];
}

/** A request that cannot be spoken, with what the client is told. */
export class RequestProblem extends Error {
  override readonly name = 'RequestProblem';
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}

/** `start.request` as it came, with the names of v3. */
export type RequestFields = Readonly<Record<string, unknown>>;

/** What the controls of a request are applied to. */
export interface RequestSubject {
  readonly voice: SpeakingVoice;
  readonly model: CatalogueModel;
  readonly protocol: RealtimeProtocol;
  /** A field of `request` with its path, as the version writes it. */
  readonly nameOf: (field: string) => string;
}

export function nameIn(protocol: RealtimeProtocol): RequestSubject['nameOf'] {
  return (field) => `request.${protocol === 'v2' ? v2FieldName(field) : field}`;
}

/** Gives a request back as what its schema says it is. @throws RequestProblem `invalid_message` */
export function checkRequest<Schema extends TObject>(
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

/** @throws RequestProblem `voice_not_found` */
export function requireVoice(voiceId: string, catalogue: Catalogue, path: string): SpeakingVoice {
  const voice = catalogue.voice(voiceId);
  if (voice !== undefined) return voice;
  const message = `${path} ${showValue(voiceId)} is no voice here`;
  throw new RequestProblem({ code: 'voice_not_found', message, path });
}

/** @throws RequestProblem `model_not_found`, or `provider_unavailable` for one that is switched off */
export function requireModel(
  modelId: string,
  voice: SpeakingVoice,
  { catalogue, path }: { readonly catalogue: Catalogue; readonly path: string },
): CatalogueModel {
  const { models } = familyOf(voice);
  const model = catalogue.model(modelId);
  if (model === undefined || !models.includes(modelId)) {
    const what = model === undefined ? 'is no model' : `does not work with voice ${voice.name}`;
    const message = `${path} ${showValue(modelId)} ${what}; allowed is ${anyOf(models)}`;
    throw new RequestProblem({ code: 'model_not_found', message, path });
  }
  if (catalogue.isAvailable(model)) return model;
  const message = `The model ${modelId} is not available`;
  throw new RequestProblem({ code: 'provider_unavailable', message, path });
}

/** @throws RequestProblem `unsupported_parameter` */
export function requireFormat(
  format: RealtimeFormat,
  model: CatalogueModel,
  path: string,
): RealtimeFormat {
  const formats = realtimeFormats(model);
  if (formats.includes(format)) return format;
  const message = `${path} is ${format}; ${model.id} makes ${anyOf(formats)}`;
  throw new RequestProblem({ code: 'unsupported_parameter', message, path });
}

/** The formats of a model in realtime: raw samples and opus are made of what every model gives. */
export function realtimeFormats({ outputFormats }: CatalogueModel): readonly RealtimeFormat[] {
  const files = (['mp3', 'wav'] as const).filter((format) => outputFormats.includes(format));
  return [...files, 'opus', 'pcm'];
}

/** Which fields of `start.request` a model follows; those of `product_v1` in v2. */
export function realtimeControls(
  model: CatalogueModel,
  protocol: RealtimeProtocol,
): Record<string, boolean> {
  const { pitch, ...controls } = model.controls;
  const { emotion, instruction: instructions } = model;
  const ofV2 = { pitch, emotion, instructions, optimizeInstructions: false };
  return { ...controls, chunkLength: true, latency: false, ...(protocol === 'v2' ? ofV2 : {}) };
}
