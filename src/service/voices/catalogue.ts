import { BUILT_IN_ENGINE } from '../../contract/engine.ts';
import { createHash } from 'node:crypto';
import type { EngineControl } from '../../contract/engine.ts';
import type { Model } from '../../contract/models.ts';
import type { Voice, VoiceV1 } from '../../contract/voices.ts';
import { ADDED_VOICES, HIBARI_VOICES } from '../engine/hibari/cast.ts';
import type { EngineRegistry, SpeechEngine } from '../engine/speech-engine.ts';
import type { CatalogueModel } from './model-catalogue.ts';
import { engineModels, MODELS } from './model-catalogue.ts';
import type { PersonalVoices } from './personal-voices.ts';
import type { CatalogueVoice } from './catalogue-voice.ts';
import { familyOf, VOICES } from './catalogue-voice.ts';

/** A voice, with the engine that speaks it. */
export interface SpeakingVoice extends CatalogueVoice {
  readonly speaker: SpeechEngine;
  /** The models that can speak the voice, including its default model. */
  readonly modelIds: readonly string[];
  readonly defaultModel: string;
  /** The controls that the engine applies, such as `volume` (see `EngineVoice.controls`). */
  readonly controls?: readonly EngineControl[] | undefined;
  /** True if the voice supports the option to read numbers and abbreviations as words (see `EngineVoice.reads`). */
  readonly reads: boolean;
  /** The signs of IPA that the voice speaks (see `EngineVoice.phonemes`). */
  readonly phonemes?: string | undefined;
  /** True if the account of this catalogue created the voice. */
  readonly isPersonal: boolean;
}

export interface Catalogue {
  /**
   * The available voices: the default voice, the voices of added engines, the other built-in voices, the robotic voices
   * of added engines, the public custom voices of others, and the custom voices of the account. The default voice is the
   * first, because clients take the first voice as the default.
   */
  readonly voices: readonly SpeakingVoice[];
  readonly models: readonly CatalogueModel[];
  voice(id: string): SpeakingVoice | undefined;
  model(id: string): CatalogueModel | undefined;
  /** Returns whether a speech, image or video model is available. */
  isAvailable(modelId: string): boolean;
  /**
   * Returns the catalogue of an account. It also contains the custom voices of the account and the public custom
   * voices of others. Queries the database at each use, because other processes create voices too.
   */
  of(accountId: string): Catalogue;
}

interface CatalogueOptions {
  readonly engines: EngineRegistry;
  readonly unavailableModels: readonly string[];
}

/**
 * Creates the catalogue of all models and of all voices that the engines can speak.
 * @param personalVoices the custom voices of the accounts; if undefined, the catalogue has no custom voices
 */
export function createCatalogue(
  { engines, unavailableModels }: CatalogueOptions,
  personalVoices?: PersonalVoices,
): Catalogue {
  const speaking = (
    known: readonly CatalogueVoice[],
    accountId?: string,
  ): readonly SpeakingVoice[] =>
    known.flatMap((voice) => {
      const found = engines.find(voice.engine.name, voice.engine.voice);
      if (found === undefined) return [];
      const isPersonal = voice.made !== undefined && voice.made.accountId === accountId;
      const { engine, voice: spoken } = found;
      const { controls, phonemes, reads = false } = spoken;
      const own = { isPersonal, speaker: engine, controls, reads, phonemes };
      return [{ ...voice, ...modelsOf(voice, engine), ...own }];
    });
  const [defaultVoice, ...builtIn] = VOICES;
  const added = engineVoices(engines);
  const robotic = added.filter(isRobotic);
  const natural = added.filter((voice) => !robotic.includes(voice));
  const voices = speaking([defaultVoice, ...natural, ...builtIn, ...robotic]);
  const voicesById = new Map(voices.map((voice) => [voice.id, voice]));
  const models = [...MODELS, ...engineModels(engines)];
  const modelsById = new Map(models.map((model) => [model.id, model]));
  const open: Catalogue = {
    voices,
    models,
    voice: (id) => voicesById.get(id),
    model: (id) => modelsById.get(id),
    isAvailable: (modelId) => !unavailableModels.includes(modelId),
    of: (accountId) => ({
      ...open,
      get voices() {
        const created = speaking(personalVoices?.list(accountId) ?? [], accountId);
        const others = created.filter(({ isPersonal }) => !isPersonal);
        return [...voices, ...others, ...created.filter(({ isPersonal }) => isPersonal)];
      },
      voice(id) {
        const found = voicesById.get(id);
        const created = found === undefined ? personalVoices?.find(accountId, id) : undefined;
        return created === undefined ? found : speaking([created], accountId)[0];
      },
    }),
  };
  return open;
}

function modelsOf(voice: CatalogueVoice, { models }: SpeechEngine) {
  const family = familyOf(voice);
  if (family.id !== 'local') return { modelIds: family.models, defaultModel: family.defaultModel };
  const modelIds = (models ?? []).map(({ id }) => id);
  return { modelIds, defaultModel: modelIds[0] ?? '' };
}

/** Returns a voice in the format of the v3 API (docs/api/voices.md). */
export function voiceRecord(voice: SpeakingVoice): Voice {
  return {
    voiceId: voice.id,
    name: voice.name,
    isPersonal: voice.isPersonal,
    primaryLanguage: voice.primaryLanguage,
    languages: [...voice.languages],
    modelIds: [...voice.modelIds],
    description: describeVoice(voice),
    ...(voice.phonemes === undefined ? {} : { phonemes: voice.phonemes }),
  };
}

/** Returns a model in the format of the v3 API (docs/api/models.md). */
export function modelRecord(model: CatalogueModel, available: boolean): Model {
  return {
    id: model.id,
    available,
    maxTextLength: model.maxTextLength,
    outputFormats: [...model.outputFormats],
    controls: model.controls,
    supportedOperations: {
      synchronous: true,
      asynchronous: true,
      alignedStreaming: model.alignedStreaming,
    },
  };
}

/**
 * Returns the voices of the engines that the user added. If an engine has its own models, its voices belong to the
 * family `local`. The voices of the other engines belong to the family `vendor`, whose models support every format but
 * not the pitch control.
 */
export function engineVoices(engines: EngineRegistry): readonly CatalogueVoice[] {
  const builtIn = new Set(VOICES.map(({ engine }) => engine.voice));
  const added = engines
    .all()
    .filter(({ engine, voice }) => engine.name !== BUILT_IN_ENGINE || !builtIn.has(voice.id));
  return added.map(({ engine, voice }) => ({
    id: stableId(engine.name, voice.id),
    name: voice.name ?? voice.id,
    family: engine.models === undefined ? 'vendor' : 'local',
    primaryLanguage: voice.language,
    languages: voice.languages ?? [voice.language],
    engine: { name: engine.name, voice: voice.id, pitch: 0, speed: 1 },
  }));
}

// A version 8 UUID: a hash of the names, and so the same on every machine.
function stableId(engine: string, voice: string): string {
  const hash = createHash('sha256').update(`foley engine voice\0${engine}\0${voice}`).digest('hex');
  const parts = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(hash) ?? [];
  const [, a, b, c, d, e] = parts;
  return `${a}-${b}-8${c}-8${d}-${e}`;
}

// The creation date of the public voices.
const PUBLISHED_AT = '2026-01-01T00:00:00.000Z';

/** Returns a voice in the format of the v1 API (docs/api/voices.md). */
export function voiceV1Record(voice: SpeakingVoice): VoiceV1 {
  const { family, id, isPersonal, made, name } = voice;
  const createdAt = made === undefined ? PUBLISHED_AT : new Date(made.createdAt).toISOString();
  return {
    voiceId: id,
    title: name,
    description: describeVoice(voice),
    created_at: createdAt,
    updated_at: createdAt,
    isPersonal,
    id,
    name,
    provider: family,
  };
}

/** Returns the stored description of a custom voice; for any other voice, the speaker, the sound and the language. */
export function describeVoice({ engine, made, primaryLanguage }: CatalogueVoice): string {
  if (made !== undefined) return made.description;
  if (engine.name === BUILT_IN_ENGINE) {
    const builtIn = HIBARI_VOICES.find(({ id }) => id === engine.voice);
    if (builtIn !== undefined) return `${builtIn.description}; natural; American English`;
    const added = ADDED_VOICES[engine.voice];
    if (added !== undefined) return added;
  }
  // Created at the first use, because creating it takes 12 ms.
  languageNames ??= new Intl.DisplayNames(['en'], { type: 'language' });
  const language = languageNames.of(primaryLanguage) ?? primaryLanguage;
  const sound = SOUNDS[engine.name];
  const speaker = `${engine.voice} of ${engine.name}`;
  return [speaker, ...(sound === undefined ? [] : [sound]), language].join('; ');
}

// Other added engines do not say how they sound.
const SOUNDS: Readonly<Record<string, string>> = {
  kokoro: 'natural',
  piper: 'natural',
  'espeak-ng': 'robotic',
};

function isRobotic({ engine }: CatalogueVoice): boolean {
  return SOUNDS[engine.name] === 'robotic';
}

let languageNames: Intl.DisplayNames | undefined;
