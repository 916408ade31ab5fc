import type { AudioFormat } from '../../contract/values.ts';
import type { NumberRange } from '../../contract/families.ts';
import type { ControlName, Pronunciation, SpeechControls } from '../../contract/speech.ts';
import type { CodePointRange } from '../../contract/unspoken.ts';
import { countCodePoints } from '../../text/code-points.ts';
import type { EngineRequest, EngineSettings } from '../engine/speech-engine.ts';
import { anyOf, showValue, describeRange } from '../http/validation.ts';
import type { Amounts } from '../ledger/ledger.ts';
import { invalidRequest, ServiceError } from '../service-error.ts';
import type { FieldProblem } from '../service-error.ts';
import { removeKaomoji, withoutKaomoji } from './kaomoji.ts';
import { pronouncedIn, pronunciationProblems, withoutPronounced } from './pronunciations.ts';
import type { Catalogue, SpeakingVoice } from '../voices/catalogue.ts';
import { familyOf } from '../voices/catalogue-voice.ts';
import type { CatalogueModel } from '../voices/model-catalogue.ts';

/** The parameters of a speech request, under their v3 names. */
export interface SpeechParameters extends GivenControls {
  readonly text: string;
  readonly voiceId: string;
  readonly modelId?: string | undefined;
  readonly format?: AudioFormat | undefined;
  readonly pronunciations?: readonly Pronunciation[] | undefined;
}

type GivenControls = { readonly [Name in ControlName]?: SpeechControls[Name] | undefined };

export interface SpeechPlanOptions {
  /** The names of the request fields in error messages; by default, the names in v3. */
  readonly names?: Readonly<Partial<Record<keyof SpeechParameters, string>>>;
  /** What to do if the model does not support the audio format: refuse the request (default) or use mp3. */
  readonly otherFormat?: 'refuse' | 'mp3';
  /** True if the model must support streaming with word times (aligned streaming). */
  readonly isAligned?: boolean;
}

/** A validated and priced speech request. */
export interface SpeechPlan {
  readonly voice: SpeakingVoice;
  readonly model: CatalogueModel;
  readonly format: AudioFormat;
  /** Name of the text field in the request. */
  readonly textField: string;
  readonly engineRequest: EngineRequest;
  readonly gainDb: number;
  readonly ignored: readonly ControlName[];
  /** The ranges of the text that the voice leaves out; empty if the engine cannot know them in advance. */
  readonly unspoken: readonly CodePointRange[];
  /** True if the engine knows in advance what the voice leaves out. */
  readonly isUnspokenKnown: boolean;
  readonly charge: Amounts;
}

/**
 * Validates a speech request: finds voice and model, checks the controls and calculates the price
 * (docs/api/speech.md#v3 and docs/api/limits.md).
 * @throws ServiceError 404 for an unknown voice, 503 for an unavailable model, 400 for unsupported values
 */
export function planSpeech(
  order: SpeechParameters,
  catalogue: Catalogue,
  { isAligned = false, names = {}, otherFormat = 'refuse' }: SpeechPlanOptions = {},
): SpeechPlan {
  const nameOf = (field: keyof SpeechParameters): string => names[field] ?? field;
  const voice = requireVoice(order.voiceId, catalogue, nameOf('voiceId'));
  const model = requireModel(order.modelId, voice, { catalogue, field: nameOf('modelId') });
  if (isAligned) requireAlignedStreaming(model, catalogue, nameOf);
  const wanted = order.format ?? 'mp3';
  const format = otherFormat === 'mp3' && !supports(model, wanted) ? 'mp3' : wanted;
  requireFit({ ...order, format }, model, nameOf);
  const text = order.filterEmoji === true ? removeKaomoji(order.text) : order.text;
  const textField = nameOf('text');
  if (text.trim() === '') {
    const message = `${textField} has only white space`;
    throw invalidRequest([{ field: textField, message }]);
  }
  requirePronounceable(order.pronunciations, voice);
  const { gainDb, ignored, settings } = deliver(order, model, voice);
  const pronounced = pronouncedIn(text, order.pronunciations);
  const engineRequest = { text, voice: voice.engine.voice, pronounced, ...settings };
  const charge = price(text, model);
  const letters = voice.speaker.unspoken?.(engineRequest);
  const found = letters === undefined ? undefined : withoutPronounced(letters, pronounced);
  return {
    voice,
    model,
    format,
    textField,
    engineRequest,
    gainDb,
    ignored,
    unspoken: text === order.text ? (found ?? []) : inSubmitted(order.text, found ?? []),
    isUnspokenKnown: found !== undefined,
    charge,
  };
}

/** @throws ServiceError 400 that names each pronunciation that the voice cannot speak */
function requirePronounceable(
  pronunciations: readonly Pronunciation[] | undefined,
  voice: SpeakingVoice,
): void {
  const [first, ...others] = pronunciationProblems(pronunciations, voice);
  if (first !== undefined) throw invalidRequest([first, ...others]);
}

function inSubmitted(
  submitted: string,
  found: readonly CodePointRange[],
): readonly CodePointRange[] {
  let next = 0;
  let units = 0;
  let removed = 0;
  let position = 0;
  return withoutKaomoji(submitted).flatMap((kept) => {
    removed += countCodePoints(submitted.slice(units, kept.start));
    const start = position;
    position += countCodePoints(submitted.slice(kept.start, kept.end));
    units = kept.end;
    const ranges: CodePointRange[] = [];
    for (let range = found[next]; range !== undefined; range = found[next]) {
      if (range.start >= position) break;
      const end = Math.min(range.end, position);
      ranges.push({ start: Math.max(range.start, start) + removed, end: end + removed });
      if (range.end > position) break;
      next += 1;
    }
    return ranges;
  });
}

type NameOf = (field: keyof SpeechParameters) => string;

/** Returns the voice with this id. @throws ServiceError 404 for an unknown voice */
export function requireVoice(voiceId: string, catalogue: Catalogue, field: string): SpeakingVoice {
  const voice = catalogue.voice(voiceId);
  if (voice !== undefined) return voice;
  const message = `${field} ${showValue(voiceId)} is unknown`;
  throw new ServiceError('ERR_VOICE_NOT_FOUND', message);
}

/**
 * Returns the model with this id, or the default model of the voice.
 * @throws ServiceError 400 for a model that does not work with the voice, 503 for an unavailable model
 */
export function requireModel(
  modelId: string | undefined,
  voice: SpeakingVoice,
  { catalogue, field }: { readonly catalogue: Catalogue; readonly field: string },
): CatalogueModel {
  const { modelIds } = voice;
  const id = modelId ?? voice.defaultModel;
  const model = catalogue.model(id);
  if (model === undefined || !modelIds.includes(id)) {
    const what = model === undefined ? 'is unknown' : `does not work with voice ${voice.name}`;
    const message = `${field} ${showValue(id)} ${what}; allowed: ${anyOf(modelIds)}`;
    throw invalidRequest([{ field, message }]);
  }
  if (catalogue.isAvailable(model.id)) return model;
  throw new ServiceError('ERR_MODEL_UNAVAILABLE', `The model ${id} is not available`, {
    details: { modelId: id },
  });
}

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
  const message = `${field} ${model.id} has no aligned streaming; ${which}, use ${anyOf(ids)}`;
  throw invalidRequest([{ field, message }]);
}

/** Returns the price of a text: credits at the model's rate, rounded up, and one unit of quota for each character. */
export function price(text: string, model: CatalogueModel): Amounts {
  const length = countCodePoints(text);
  return { credits: Math.ceil(length * model.creditsPerCharacter), quota: length };
}

function requireFit(
  order: SpeechParameters & { readonly format: AudioFormat },
  model: CatalogueModel,
  nameOf: NameOf,
): void {
  const [first, ...others] = [
    ...checkText(order.text, model, nameOf('text')),
    ...checkFormat(order.format, model, nameOf('format')),
    ...checkRanges(order, model, nameOf),
  ];
  if (first !== undefined) throw invalidRequest([first, ...others]);
}

/** Returns a problem if the text contains half of a surrogate pair; otherwise undefined. */
export function surrogateProblem(field: string, text: string): FieldProblem | undefined {
  if (!/\p{Surrogate}/u.test(text)) return undefined;
  return {
    field,
    message: `${field} contains an unpaired surrogate (UTF-16), which is not a character`,
  };
}

function checkText(
  text: string,
  { id, maxTextLength }: CatalogueModel,
  field: string,
): readonly FieldProblem[] {
  const surrogate = surrogateProblem(field, text);
  if (surrogate !== undefined) return [surrogate];
  const length = countCodePoints(text);
  if (length <= maxTextLength) return [];
  const message = `${field} has ${length} characters; ${id} allows at most ${maxTextLength}`;
  return [{ field, message }];
}

function checkFormat(
  format: AudioFormat,
  model: CatalogueModel,
  field: string,
): readonly FieldProblem[] {
  if (supports(model, format)) return [];
  const message = `${field} is ${format}; ${model.id} supports ${anyOf(model.outputFormats)}`;
  return [{ field, message }];
}

function supports({ outputFormats }: CatalogueModel, format: AudioFormat): boolean {
  return format === 'pcm' || outputFormats.includes(format);
}

/**
 * Returns a problem for each control whose value is outside the range of the model's family. Also checks controls that
 * the model ignores.
 */
export function checkRanges(
  order: { readonly [Name in (typeof RANGED)[number]]?: number | undefined },
  model: CatalogueModel,
  nameOf: NameOf,
): readonly FieldProblem[] {
  const { ranges } = familyOf(model);
  return RANGED.flatMap((name) => {
    const value = order[name];
    const range: NumberRange = ranges[name];
    if (value === undefined || isWithin(value, range)) return [];
    const allowed = describeRange(range);
    const field = nameOf(name);
    return [{ field, message: `${field} is ${value}; ${model.id} allows ${allowed}` }];
  });
}

const RANGED = ['speed', 'volume', 'stability', 'similarity'] as const;

/** Returns true if a value is in a range. Both ends belong to the range. */
export function isWithin(value: number, { minimum, maximum }: NumberRange): boolean {
  return value >= minimum && value <= maximum;
}

/** The engine settings for the controls of a request, and the names of the controls without effect. */
interface AppliedControls {
  readonly settings: EngineSettings;
  readonly gainDb: number;
  /** Names of the controls without effect, for the header `X-OpenAPI-Ignored-Parameters`. */
  readonly ignored: readonly ControlName[];
}

/**
 * Converts the controls of a request to engine settings. If the model or the voice does not support a control, the
 * control is listed as ignored.
 */
export function deliver(
  controls: GivenControls,
  model: CatalogueModel,
  voice: SpeakingVoice,
): AppliedControls {
  if (model.family === 'local') return deliverToEngine(controls, model, voice);
  const emotion = model.emotion ? directEmotion(controls.emotion) : undefined;
  const instruction = model.instruction ? directInstruction(controls.instruction) : undefined;
  const direction = combine(emotion ?? PLAIN, instruction ?? PLAIN);
  const applied: Readonly<Record<ControlName, boolean>> = {
    ...model.controls,
    language: speaks(voice, controls.language),
    emotion: emotion !== undefined,
    instruction: instruction !== undefined,
    // An engine that reads text itself always normalizes it.
    textNormalization: voice.reads || controls.textNormalization !== false,
    filterEmoji: true,
  };
  return {
    settings: {
      speed: (applied.speed ? (controls.speed ?? 1) : 1) * direction.speed * voice.engine.speed,
      pitch: (applied.pitch ? (controls.pitch ?? 0) : 0) + direction.pitch + voice.engine.pitch,
      textNormalization: !applied.textNormalization || controls.textNormalization !== false,
    },
    gainDb: (applied.volume ? (controls.volume ?? 0) : 0) + direction.gainDb,
    ignored: CONTROL_NAMES.filter((name) => isGiven(controls[name]) && !applied[name]),
  };
}

function deliverToEngine(
  given: GivenControls,
  model: CatalogueModel,
  voice: SpeakingVoice,
): AppliedControls {
  const { controls: declared = [], engine } = voice;
  const applied = new Set<ControlName>([
    ...declared,
    ...(speaks(voice, given.language) ? (['language'] as const) : []),
    ...(voice.reads || given.textNormalization !== false ? (['textNormalization'] as const) : []),
  ]);
  const { speed = 1, pitch = 0 } = given;
  const sent = declared
    .filter((name) => name !== 'speed' && name !== 'pitch')
    .flatMap((name) => (isGiven(given[name]) ? [[name, given[name]] as const] : []));
  return {
    settings: {
      speed: (applied.has('speed') ? speed : 1) * engine.speed,
      pitch: (applied.has('pitch') ? pitch : 0) + engine.pitch,
      textNormalization: !applied.has('textNormalization') || given.textNormalization !== false,
      model: model.id,
      controls: Object.fromEntries(sent),
    },
    gainDb: 0,
    ignored: CONTROL_NAMES.filter((name) => isGiven(given[name]) && !applied.has(name)),
  };
}

const CONTROL_NAMES: readonly ControlName[] = [
  'speed',
  'volume',
  'pitch',
  'stability',
  'similarity',
  'language',
  'emotion',
  'instruction',
  'textNormalization',
];

function isGiven(value: string | number | boolean | undefined): boolean {
  return value !== undefined && value !== '';
}

function speaks(voice: SpeakingVoice, hint: string | undefined): boolean {
  if (hint === undefined) return true;
  return voice.languages.some((language) => primarySubtag(language) === primarySubtag(hint));
}

function primarySubtag(language: string): string {
  return (language.split(/[-_]/)[0] ?? '').toLowerCase();
}

interface Direction {
  /** Factor for the speaking rate. */
  readonly speed: number;
  /** Change of the pitch in semitones. */
  readonly pitch: number;
  /** Change of the audio level in decibels. */
  readonly gainDb: number;
}

const PLAIN: Direction = { speed: 1, pitch: 0, gainDb: 0 };

const EMOTIONS = new Map<string, Direction>([
  ['neutral', PLAIN],
  ['calm', { speed: 0.92, pitch: -0.5, gainDb: 0 }],
  ['happy', { speed: 1.08, pitch: 2, gainDb: 0 }],
  ['surprised', { speed: 1.05, pitch: 3, gainDb: 0 }],
  ['fearful', { speed: 1.15, pitch: 2, gainDb: 0 }],
  ['angry', { speed: 1.12, pitch: 1, gainDb: 0 }],
  ['disgusted', { speed: 0.94, pitch: -1, gainDb: 0 }],
  ['sad', { speed: 0.88, pitch: -1.5, gainDb: 0 }],
]);

const WORDS: readonly (readonly [RegExp, Direction])[] = [
  [/\b(slow|slowly|slower|unhurried|relaxed)\b/i, { speed: 0.82, pitch: 0, gainDb: 0 }],
  [/\b(fast|faster|quick|quickly|rapid|hurried)\b/i, { speed: 1.22, pitch: 0, gainDb: 0 }],
  [/\b(high|higher|bright|childlike)\b/i, { speed: 1, pitch: 2.5, gainDb: 0 }],
  [/\b(low|lower|deep|deeper|grave)\b/i, { speed: 1, pitch: -2.5, gainDb: 0 }],
  [/\b(loud|loudly|louder|shout|shouting)\b/i, { speed: 1, pitch: 0.5, gainDb: 4 }],
  [/\b(quiet|quietly|soft|softly|whisper|whispering)\b/i, { speed: 0.97, pitch: -0.5, gainDb: -6 }],
  [/\b(happy|cheerful|joyful|excited|energetic)\b/i, { speed: 1.08, pitch: 2, gainDb: 0 }],
  [/\b(sad|sorrowful|melancholic|tired)\b/i, { speed: 0.88, pitch: -1.5, gainDb: 0 }],
  [/\b(angry|furious)\b/i, { speed: 1.12, pitch: 1, gainDb: 0 }],
  [/\b(calm|calmly|gentle|gently|soothing)\b/i, { speed: 0.92, pitch: -0.5, gainDb: 0 }],
];

function directEmotion(id = ''): Direction | undefined {
  return EMOTIONS.get(id.toLowerCase());
}

function directInstruction(instruction = ''): Direction | undefined {
  const found = WORDS.filter(([word]) => word.test(instruction)).map(([, direction]) => direction);
  return found.length === 0 ? undefined : found.reduce(combine, PLAIN);
}

function combine(one: Direction, other: Direction): Direction {
  return {
    speed: clamp(one.speed * other.speed, 0.6, 1.6),
    pitch: clamp(one.pitch + other.pitch, -5, 5),
    gainDb: clamp(one.gainDb + other.gainDb, -8, 8),
  };
}

function clamp(value: number, minimum: number, maximum: number): number {
  return Math.min(maximum, Math.max(minimum, value));
}
