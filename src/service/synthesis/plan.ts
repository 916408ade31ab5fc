import type { ControlRange } from '../../contract/families.ts';
import type { ControlName, SpeechFormat, SpeechRequest } from '../../contract/schemas/speech.ts';
import { countCodePoints } from '../../text/code-points.ts';
import type { Amounts } from '../billing/amounts.ts';
import type { Catalogue, SpeakingVoice } from '../catalogue/catalogue.ts';
import { familyOf } from '../catalogue/catalogue.ts';
import type { CatalogueModel } from '../catalogue/models.ts';
import type { EngineRequest } from '../engine/speech-engine.ts';
import { anyOf, describeRange } from '../wording/describe-allowed.ts';
import { showValue } from '../wording/show-value.ts';
import type { FieldProblem } from '../service-error.ts';
import { invalidRequest, ServiceError } from '../service-error.ts';
import { deliver } from './controls.ts';
import { removeKaomoji } from './kaomoji.ts';

/** A speech request that can be carried out: everything is known but the sound. */
export interface SpeechPlan {
  readonly voice: SpeakingVoice;
  readonly model: CatalogueModel;
  readonly format: SpeechFormat;
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
export function planSpeech(request: SpeechRequest, catalogue: Catalogue): SpeechPlan {
  const voice = requireVoice(request.voiceId, catalogue);
  const model = requireModel(request.modelId, voice, catalogue);
  const format = request.format ?? 'mp3';
  requireFit(request, format, model);
  const text = request.filterEmoji === true ? removeKaomoji(request.text) : request.text;
  if (text.trim() === '') {
    throw invalidRequest([{ field: 'text', message: 'text has nothing to say but white space' }]);
  }
  const { speed, pitch, gainDb, ignored } = deliver(request, model, voice);
  const engineRequest = { text, voice: voice.engine.voice, speed, pitch };
  return { voice, model, format, engineRequest, gainDb, ignored, charge: price(text, model) };
}

function requireVoice(voiceId: string, catalogue: Catalogue): SpeakingVoice {
  const voice = catalogue.voice(voiceId);
  if (voice !== undefined) return voice;
  throw new ServiceError('ERR_VOICE_NOT_FOUND', `voiceId ${showValue(voiceId)} is no voice here`);
}

function requireModel(
  modelId: string | undefined,
  voice: SpeakingVoice,
  catalogue: Catalogue,
): CatalogueModel {
  const family = familyOf(voice);
  const id = modelId ?? family.defaultModel;
  const model = catalogue.model(id);
  if (model === undefined || !family.models.includes(id)) {
    const what = model === undefined ? 'is no model' : `does not work with voice ${voice.name}`;
    const message = `modelId ${showValue(id)} ${what}; allowed is ${anyOf(family.models)}`;
    throw invalidRequest([{ field: 'modelId', message }]);
  }
  if (catalogue.isAvailable(model)) return model;
  throw new ServiceError('ERR_MODEL_UNAVAILABLE', `The model ${id} is not available`, {
    details: { modelId: id },
  });
}

function requireFit(request: SpeechRequest, format: SpeechFormat, model: CatalogueModel): void {
  const problems = [
    ...checkText(request.text, model),
    ...checkFormat(format, model),
    ...checkRanges(request, model),
  ];
  const [first, ...others] = problems;
  if (first !== undefined) throw invalidRequest([first, ...others]);
}

const LONE_SURROGATE = /\p{Surrogate}/u;

function checkText(text: string, { id, maxTextLength }: CatalogueModel): readonly FieldProblem[] {
  if (LONE_SURROGATE.test(text)) {
    return [
      { field: 'text', message: 'text holds half of a surrogate pair, which is no character' },
    ];
  }
  const length = countCodePoints(text);
  if (length <= maxTextLength) return [];
  const message = `text has ${length} characters; ${id} takes at most ${maxTextLength}`;
  return [{ field: 'text', message }];
}

function checkFormat(format: SpeechFormat, model: CatalogueModel): readonly FieldProblem[] {
  if (model.outputFormats.includes(format)) return [];
  const message = `format is ${format}; ${model.id} makes ${anyOf(model.outputFormats)}`;
  return [{ field: 'format', message }];
}

/** The ranges of a family hold only for the controls that the model applies. */
function checkRanges(request: SpeechRequest, model: CatalogueModel): readonly FieldProblem[] {
  const { ranges } = familyOf(model);
  return RANGED.flatMap((name) => {
    const value = request[name];
    const range: ControlRange = ranges[name];
    if (value === undefined || !model.controls[name] || isWithin(value, range)) return [];
    const allowed = describeRange(range);
    return [{ field: name, message: `${name} is ${value}; ${model.id} allows ${allowed}` }];
  });
}

const RANGED = ['speed', 'volume', 'stability', 'similarity'] as const;

function isWithin(value: number, { minimum, maximum }: ControlRange): boolean {
  return value >= minimum && value <= maximum;
}

/** Credits by the model's rate, rounded up, and one unit of quota for each character. */
function price(text: string, model: CatalogueModel): Amounts {
  const length = countCodePoints(text);
  return { credits: Math.ceil(length * model.creditsPerCharacter), quota: length };
}
