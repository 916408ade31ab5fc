import type { AudioFormat } from '../../contract/audio-formats.ts';
import type { ControlName, SpeechControls } from '../../contract/schemas/speech.ts';
import { countCodePoints } from '../../text/code-points.ts';
import type { Amounts } from '../billing/amounts.ts';
import type { Catalogue, SpeakingVoice } from '../catalogue/catalogue.ts';
import { familyOf } from '../catalogue/catalogue.ts';
import type { CatalogueModel } from '../catalogue/models.ts';
import type { EngineRequest } from '../engine/speech-engine.ts';
import { anyOf } from '../wording/describe-allowed.ts';
import { showValue } from '../wording/show-value.ts';
import { invalidRequest, ServiceError } from '../service-error.ts';
import { deliver } from './controls.ts';
import { makes, requireFit } from './fit.ts';
import { removeKaomoji } from './kaomoji.ts';

/** What is asked for, whichever surface it came by. */
export interface SpeechOrder extends GivenControls {
  readonly text: string;
  readonly voiceId: string;
  readonly modelId?: string | undefined;
  /** Default mp3. */
  readonly format?: AudioFormat | undefined;
}

type GivenControls = { readonly [Name in ControlName]?: SpeechControls[Name] | undefined };

export interface PlanOptions {
  /** What the surface calls the fields of an order, for what is told of them; default their own names. */
  readonly names?: Readonly<Partial<Record<keyof SpeechOrder, string>>>;
  /** What becomes of a format that the model does not make; default `refuse`. */
  readonly otherFormat?: 'refuse' | 'mp3';
  /** Only for models that declare aligned streaming. */
  readonly isAligned?: boolean;
}

/** A speech request that can be carried out: everything is known but the sound. */
export interface SpeechPlan {
  readonly voice: SpeakingVoice;
  readonly model: CatalogueModel;
  readonly format: AudioFormat;
  /** What the surface calls the text. */
  readonly textField: string;
  readonly engineRequest: EngineRequest;
  readonly gainDb: number;
  readonly ignored: readonly ControlName[];
  readonly charge: Amounts;
}

/**
 * Decides how a request is carried out and what it costs (spec sections 2, 4.1 and 8).
 * @throws ServiceError 404 for an unknown voice, 503 for an unavailable model, 400 for what the
 * voice, the model or its family does not take
 */
export function planSpeech(
  order: SpeechOrder,
  catalogue: Catalogue,
  { isAligned = false, names = {}, otherFormat = 'refuse' }: PlanOptions = {},
): SpeechPlan {
  const nameOf = (field: keyof SpeechOrder): string => names[field] ?? field;
  const voice = requireVoice(order.voiceId, catalogue, nameOf);
  const model = requireModel(order.modelId, voice, { catalogue, nameOf });
  if (isAligned) requireAlignedStreaming(model, catalogue, nameOf);
  const wanted = order.format ?? 'mp3';
  const format = otherFormat === 'mp3' && !makes(model, wanted) ? 'mp3' : wanted;
  requireFit({ ...order, format }, model, nameOf);
  const text = order.filterEmoji === true ? removeKaomoji(order.text) : order.text;
  const textField = nameOf('text');
  if (text.trim() === '') {
    const message = `${textField} has nothing to say but white space`;
    throw invalidRequest([{ field: textField, message }]);
  }
  const { speed, pitch, gainDb, ignored } = deliver(order, model, voice);
  const engineRequest = { text, voice: voice.engine.voice, speed, pitch };
  const charge = price(text, model);
  return { voice, model, format, textField, engineRequest, gainDb, ignored, charge };
}

/** What the surface calls a field of an order. */
export type NameOf = (field: keyof SpeechOrder) => string;

function requireVoice(voiceId: string, catalogue: Catalogue, nameOf: NameOf): SpeakingVoice {
  const voice = catalogue.voice(voiceId);
  if (voice !== undefined) return voice;
  const message = `${nameOf('voiceId')} ${showValue(voiceId)} is no voice here`;
  throw new ServiceError('ERR_VOICE_NOT_FOUND', message);
}

function requireModel(
  modelId: string | undefined,
  voice: SpeakingVoice,
  { catalogue, nameOf }: { readonly catalogue: Catalogue; readonly nameOf: NameOf },
): CatalogueModel {
  const family = familyOf(voice);
  const id = modelId ?? family.defaultModel;
  const model = catalogue.model(id);
  if (model === undefined || !family.models.includes(id)) {
    const field = nameOf('modelId');
    const what = model === undefined ? 'is no model' : `does not work with voice ${voice.name}`;
    const message = `${field} ${showValue(id)} ${what}; allowed is ${anyOf(family.models)}`;
    throw invalidRequest([{ field, message }]);
  }
  if (catalogue.isAvailable(model)) return model;
  throw new ServiceError('ERR_MODEL_UNAVAILABLE', `The model ${id} is not available`, {
    details: { modelId: id },
  });
}

/** Names the models of the same family that have it, which the voice may speak with, else all. */
function requireAlignedStreaming(
  model: CatalogueModel,
  catalogue: Catalogue,
  nameOf: NameOf,
): void {
  if (model.alignedStreaming) return;
  const able = catalogue.models.filter(({ alignedStreaming }) => alignedStreaming);
  const related = able.filter(({ family }) => family === model.family);
  const [which, found] =
    related.length > 0 ? ['with this voice', related] : ['with other voices', able];
  const ids = found.map(({ id }) => id);
  const field = nameOf('modelId');
  const message = `${field} ${model.id} has no aligned streaming; ${which} it is there in ${ids.join(', ')}`;
  throw invalidRequest([{ field, message }]);
}

/** Credits by the model's rate, rounded up, and one unit of quota for each character. */
export function price(text: string, model: CatalogueModel): Amounts {
  const length = countCodePoints(text);
  return { credits: Math.ceil(length * model.creditsPerCharacter), quota: length };
}
