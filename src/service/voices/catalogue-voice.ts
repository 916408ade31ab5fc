import { BUILT_IN_ENGINE } from '../../contract/engine.ts';
import type { Family, FamilyId } from '../../contract/families.ts';
import { FAMILIES, WIDEST_RANGES } from '../../contract/families.ts';
import type { VoiceVisibility } from '../../contract/reference-audio.ts';

/** A voice of the service. `engine` is the engine voice that produces its audio. */
export interface CatalogueVoice {
  readonly id: string;
  readonly name: string;
  readonly family: FamilyId;
  readonly primaryLanguage: string;
  readonly languages: readonly string[];
  readonly engine: EngineSource;
  readonly made?: NewVoice;
}

/** The additional fields of a custom (designed or cloned) voice. */
export interface NewVoice {
  readonly accountId: string;
  readonly description: string;
  readonly visibility: VoiceVisibility;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

export const BUILT_IN_LANGUAGE = 'en-US';

/** An engine voice, and the pitch and speed with which it speaks for a voice of the service. */
export interface EngineSource {
  /** The `SpeechEngine.name` of the engine. */
  readonly name: string;
  /** The `EngineVoice.id` of the voice. */
  readonly voice: string;
  /** Pitch shift in semitones, added to the default pitch of the engine voice. */
  readonly pitch: number;
  /** Factor for the normal speaking rate of the engine voice. */
  readonly speed: number;
}

/**
 * The public voices. The first one is the default voice: the model's own, without changes. Ids never change. Each voice has
 * the name of a voice of the built-in engine (src/service/engine/hibari/cast.ts).
 */
export const VOICES: readonly [CatalogueVoice, ...CatalogueVoice[]] = [
  voice('6a2eecd3-ea01-418a-9f90-252f03fa506c', 'Clara', 'vendor'),
  voice('a6967bde-47d5-436e-9572-7a16ae6d6549', 'Martin', 'vendor'),
  voice('48872707-b53b-477a-b5dc-7b1e079fcdeb', 'Ewan', 'vendor'),
  voice('d593c073-1b82-4562-bd00-24b84f1cd24b', 'Nora', 'altA'),
  voice('0c7fae67-2fea-4982-828d-253d165cf545', 'Jonas', 'altA'),
  voice('abef79d1-65a5-4046-ae15-ccb579c5cc3b', 'Iris', 'altB'),
  voice('660e6ff5-fb7e-4b32-9a4f-65350b5cc4cd', 'Callum', 'altB'),
  voice('7d19b685-5836-4a7e-a746-88e69d897156', 'Paul', 'altC'),
  voice('5e6ee12b-8d3c-40ff-aa47-79948faa3edb', 'Maya', 'altC'),
  voice('02a6ed65-5fda-4813-81dc-ff0729bb6808', 'Greta', 'altD'),
  voice('76deb31a-b7e2-4ce5-b5a3-ab78a0fd2b74', 'Angus', 'altD'),
  voice('7cd12d9b-3346-43d2-802d-70f3441ae248', 'Leo', 'altE'),
  voice('06728b87-626e-412e-8f20-3195e76f7598', 'Tess', 'altE'),
  voice('ee39c7d2-d0f4-49ec-a48b-8c95650081e8', 'Rose', 'altF'),
  voice('fff272bd-06c7-4175-9862-5de277d4ee47', 'Hugo', 'altF'),
];

function voice(id: string, name: string, family: FamilyId): CatalogueVoice {
  const engine = { name: BUILT_IN_ENGINE, voice: name.toLowerCase(), pitch: 0, speed: 1 };
  return {
    id,
    name,
    family,
    primaryLanguage: BUILT_IN_LANGUAGE,
    languages: [BUILT_IN_LANGUAGE],
    engine,
  };
}

const LOCAL_FAMILY = { id: 'local', defaultModel: '', models: [], ranges: WIDEST_RANGES } as const;

/** Returns the family of a voice or of a model. @throws TypeError when the family is unknown */
export function familyOf({ family }: { readonly family: string }): Family {
  if (family === LOCAL_FAMILY.id) return LOCAL_FAMILY;
  const found = FAMILIES.find(({ id }) => id === family);
  if (found === undefined) throw new TypeError(`Unknown family: ${family}`);
  return found;
}
