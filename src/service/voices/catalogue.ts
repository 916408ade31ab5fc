import { createHash } from 'node:crypto';
import type { Family, FamilyId } from '../../contract/families.ts';
import { FAMILIES } from '../../contract/families.ts';
import type { Model } from '../../contract/models.ts';
import type { Voice, VoiceV1 } from '../../contract/voices.ts';
import type { CatalogueModel } from './models.ts';
import { MODELS } from './models.ts';
import type { CatalogueVoice, EngineSource } from './voices.ts';
import { VOICES } from './voices.ts';
import type { EngineRegistry } from '../engine/speech-engine.ts';
import type { SpeechEngine, EngineVoice } from '../engine/speech-engine.ts';

/** A voice of the catalogue with what speaks it. */
export interface SpeakingVoice extends CatalogueVoice {
  readonly speaker: SpeechEngine;
  /** Whether the account made it whose catalogue this is. */
  readonly isPersonal: boolean;
}

/** What this service can speak with. */
export interface Catalogue {
  /** Voices that have an engine: the public ones, the default first, then those of the account. */
  readonly voices: readonly SpeakingVoice[];
  readonly models: readonly CatalogueModel[];
  voice(id: string): SpeakingVoice | undefined;
  model(id: string): CatalogueModel | undefined;
  /** Also of a model of images or videos. */
  isAvailable(model: Pick<CatalogueModel, 'id'>): boolean;
  /**
   * The same with the voices that this account made, and those that others made public. It is read
   * anew each time: other processes make voices too.
   */
  of(accountId: string): Catalogue;
}

/** Where the voices are that accounts made. */
export interface CreatedVoices {
  /** What the account may use, in the order in which it was made. */
  list(accountId: string): readonly CatalogueVoice[];
  find(accountId: string, voiceId: string): CatalogueVoice | undefined;
}

interface CatalogueOptions {
  readonly engines: EngineRegistry;
  readonly unavailableModels: readonly string[];
  /** Default none. */
  readonly madeVoices?: CreatedVoices;
}

/** The voices that the engines can speak, and every model of the contract. */
export function createCatalogue(options: CatalogueOptions): Catalogue {
  const { engines, unavailableModels, madeVoices } = options;
  const voices = [...VOICES, ...engineVoices(engines)].flatMap((voice) =>
    withSpeaker(voice, engines),
  );
  const voicesById = new Map(voices.map((voice) => [voice.id, voice]));
  const modelsById = new Map(MODELS.map((model) => [model.id, model]));
  const open: Catalogue = {
    voices,
    models: MODELS,
    voice: (id) => voicesById.get(id),
    model: (id) => modelsById.get(id),
    isAvailable: (model) => !unavailableModels.includes(model.id),
    of: (accountId) => {
      const spoken = (voice: CatalogueVoice | undefined): readonly SpeakingVoice[] =>
        voice === undefined ? [] : withSpeaker(voice, engines, accountId);
      return {
        ...open,
        get voices() {
          const made = madeVoices?.list(accountId).flatMap((voice) => spoken(voice)) ?? [];
          const others = made.filter(({ isPersonal }) => !isPersonal);
          return [...voices, ...others, ...made.filter(({ isPersonal }) => isPersonal)];
        },
        voice: (id) => voicesById.get(id) ?? spoken(madeVoices?.find(accountId, id))[0],
      };
    },
  };
  return open;
}

/** The voice, unless its engine is not here. */
function withSpeaker(
  voice: CatalogueVoice,
  engines: EngineRegistry,
  accountId?: string,
): readonly SpeakingVoice[] {
  const found = engines.find(voice.engine.name, voice.engine.voice);
  if (found === undefined) return [];
  const isPersonal = voice.made !== undefined && voice.made.accountId === accountId;
  return [{ ...voice, isPersonal, speaker: found.engine }];
}

/** The family that a voice or a model belongs to. */
export function familyOf({ family }: Pick<CatalogueModel, 'family'>): Family {
  const found = FAMILIES.find(({ id }) => id === family);
  if (found === undefined) throw new TypeError(`family ${family} does not exist`);
  return found;
}

/** The voice as v3 lists it (docs/api/voices.md). */
export function voiceRecord(voice: SpeakingVoice): Voice {
  return {
    voiceId: voice.id,
    name: voice.name,
    isPersonal: voice.isPersonal,
    primaryLanguage: voice.primaryLanguage,
    languages: [...voice.languages],
    modelIds: [...familyOf(voice).models],
  };
}

/** The model as v3 declares it (docs/api/models.md). */
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

/** What an engine that was added calls its voice. */
type NamedEngineVoice = EngineVoice & { readonly name?: string };

/** The engine whose voices the catalogue itself names. */
const BUILT_IN = 'flite';

/** Voices of the vendor family: their models take every format, and ask for no pitch control. */
const FAMILY: FamilyId = 'vendor';

/** The voices of the engines that were added, in their order, behind those of the catalogue. */
export function engineVoices(engines: EngineRegistry): readonly CatalogueVoice[] {
  return engines.all().flatMap(({ engine, voice }) => {
    if (engine.name === BUILT_IN) return [];
    const named: NamedEngineVoice = voice;
    return [
      {
        id: stableId(engine.name, voice.id),
        name: named.name ?? voice.id,
        family: FAMILY,
        primaryLanguage: voice.language,
        languages: [voice.language],
        engine: { name: engine.name, voice: voice.id, pitch: 0, speed: 1 },
      },
    ];
  });
}

/** The same UUID (version 8, of a hash) for the same voice, on every machine. */
function stableId(engine: string, voice: string): string {
  const hash = createHash('sha256').update(`foley engine voice\0${engine}\0${voice}`).digest('hex');
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `8${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join('-');
}

/** When the public voices came into the catalogue; they have not changed since. */
const PUBLISHED_AT = '2026-01-01T00:00:00.000Z';

/** The voice as v1 lists it (docs/api/voices.md). */
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

/** What a voice sounds like, in a few words; of one that an account made, what was written down then. */
export function describeVoice({ engine, made, primaryLanguage }: CatalogueVoice): string {
  if (made !== undefined) return made.description;
  // Made here and not on import: it takes 12 ms.
  languageNames ??= new Intl.DisplayNames(['en'], { type: 'language' });
  const language = languageNames.of(primaryLanguage) ?? primaryLanguage;
  const speaker = FLITE_SPEAKERS.get(engine.name === 'flite' ? engine.voice : '');
  if (speaker === undefined) return `${language}; ${engine.voice} of ${engine.name}`;
  return [`${speaker}, ${language}`, ...manner(engine)].join('; ');
}

let languageNames: Intl.DisplayNames | undefined;

const FLITE_SPEAKERS = new Map([
  ['slt', 'A woman'],
  ['rms', 'A man'],
  ['awb', 'A man'],
  ['kal16', 'A man'],
]);

/** How it differs from others that are made of the same engine voice. */
function manner({ pitch, speed }: EngineSource): readonly string[] {
  return [
    ...(pitch === 0 ? [] : [pitch > 0 ? 'higher' : 'lower']),
    ...(speed === 1 ? [] : [speed > 1 ? 'faster' : 'slower']),
  ];
}
