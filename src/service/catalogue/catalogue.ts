import type { Family } from '../../contract/families.ts';
import { FAMILIES } from '../../contract/families.ts';
import type { Model } from '../../contract/schemas/model.ts';
import type { Voice } from '../../contract/schemas/voice.ts';
import type { EngineRegistry } from '../engine/registry.ts';
import type { SpeechEngine } from '../engine/speech-engine.ts';
import { engineVoices } from './engine-voices.ts';
import type { CatalogueModel } from './models.ts';
import { MODELS } from './models.ts';
import type { CatalogueVoice } from './voices.ts';
import { VOICES } from './voices.ts';

/** A voice of the catalogue with the engine that speaks it. */
export interface SpeakingVoice extends CatalogueVoice {
  readonly speaker: SpeechEngine;
}

/** What this service can speak with. */
export interface Catalogue {
  /** Public voices that have an engine, the default first. */
  readonly voices: readonly SpeakingVoice[];
  readonly models: readonly CatalogueModel[];
  voice(id: string): SpeakingVoice | undefined;
  model(id: string): CatalogueModel | undefined;
  isAvailable(model: CatalogueModel): boolean;
}

export interface CatalogueOptions {
  readonly engines: EngineRegistry;
  readonly unavailableModels: readonly string[];
}

/** The voices that the engines can speak, and every model of the contract. */
export function createCatalogue({ engines, unavailableModels }: CatalogueOptions): Catalogue {
  const voices = [...VOICES, ...engineVoices(engines)].flatMap((voice) => {
    const found = engines.find(voice.engine.name, voice.engine.voice);
    return found === undefined ? [] : [{ ...voice, speaker: found.engine }];
  });
  const voicesById = new Map(voices.map((voice) => [voice.id, voice]));
  const modelsById = new Map(MODELS.map((model) => [model.id, model]));
  return {
    voices,
    models: MODELS,
    voice: (id) => voicesById.get(id),
    model: (id) => modelsById.get(id),
    isAvailable: (model) => !unavailableModels.includes(model.id),
  };
}

/** The family that a voice or a model belongs to. */
export function familyOf({ family }: Pick<CatalogueModel, 'family'>): Family {
  const found = FAMILIES.find(({ id }) => id === family);
  if (found === undefined) throw new TypeError(`family ${family} does not exist`);
  return found;
}

/** The voice as v3 lists it (spec section 2.1). */
export function voiceRecord(voice: CatalogueVoice): Voice {
  return {
    voiceId: voice.id,
    name: voice.name,
    isPersonal: false,
    primaryLanguage: voice.primaryLanguage,
    languages: [...voice.languages],
    modelIds: [...familyOf(voice).models],
  };
}

/** The model as v3 declares it (spec section 2.2). */
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
