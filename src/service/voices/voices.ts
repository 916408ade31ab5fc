import type { FamilyId } from '../../contract/families.ts';
import type { VoiceVisibility } from '../../contract/reference-audio.ts';

/** A voice and how it is made from a voice of the engine. */
export interface CatalogueVoice {
  readonly id: string;
  readonly name: string;
  readonly family: FamilyId;
  readonly primaryLanguage: string;
  readonly languages: readonly string[];
  readonly engine: EngineSource;
  /** Of a voice that an account made. */
  readonly made?: CreatedVoice;
}

/** What a voice that an account made has besides. */
export interface CreatedVoice {
  readonly accountId: string;
  readonly description: string;
  /** Whether other accounts see and use it. */
  readonly visibility: VoiceVisibility;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

export interface EngineSource {
  /** `SpeechEngine.name`. */
  readonly name: string;
  /** `EngineVoice.id` of that engine. */
  readonly voice: string;
  /** Semitones from the engine voice's own pitch. */
  readonly pitch: number;
  /** Multiplies the speed that is asked for. */
  readonly speed: number;
}

type Accent = 'en-US' | 'en-GB';

function voice(
  id: string,
  name: string,
  [family, accent]: readonly [FamilyId, Accent],
  engine: Omit<EngineSource, 'name'>,
): CatalogueVoice {
  return {
    id,
    name,
    family,
    primaryLanguage: accent,
    languages: [accent],
    engine: { name: 'flite', ...engine },
  };
}

/**
 * The public voices; ids never change. The first is the default voice. Four engine
 * voices carry them: slt (a woman), rms and kal16 (men), awb (a Scotsman). rms cannot be shifted in
 * pitch, so it serves only families that have no pitch control.
 */
export const VOICES: readonly CatalogueVoice[] = [
  voice('6a2eecd3-ea01-418a-9f90-252f03fa506c', 'Clara', ['vendor', 'en-US'], {
    voice: 'slt',
    pitch: 0,
    speed: 1,
  }),
  voice('a6967bde-47d5-436e-9572-7a16ae6d6549', 'Martin', ['vendor', 'en-US'], {
    voice: 'rms',
    pitch: 0,
    speed: 1,
  }),
  voice('48872707-b53b-477a-b5dc-7b1e079fcdeb', 'Ewan', ['vendor', 'en-GB'], {
    voice: 'awb',
    pitch: 0,
    speed: 1,
  }),
  voice('d593c073-1b82-4562-bd00-24b84f1cd24b', 'Nora', ['altA', 'en-US'], {
    voice: 'slt',
    pitch: 2,
    speed: 1.05,
  }),
  voice('0c7fae67-2fea-4982-828d-253d165cf545', 'Jonas', ['altA', 'en-US'], {
    voice: 'kal16',
    pitch: 0,
    speed: 1,
  }),
  voice('abef79d1-65a5-4046-ae15-ccb579c5cc3b', 'Iris', ['altB', 'en-US'], {
    voice: 'slt',
    pitch: -2,
    speed: 0.95,
  }),
  voice('660e6ff5-fb7e-4b32-9a4f-65350b5cc4cd', 'Callum', ['altB', 'en-GB'], {
    voice: 'awb',
    pitch: 2,
    speed: 1.05,
  }),
  voice('7d19b685-5836-4a7e-a746-88e69d897156', 'Paul', ['altC', 'en-US'], {
    voice: 'rms',
    pitch: 0,
    speed: 0.88,
  }),
  voice('5e6ee12b-8d3c-40ff-aa47-79948faa3edb', 'Maya', ['altC', 'en-US'], {
    voice: 'slt',
    pitch: 4,
    speed: 1.1,
  }),
  voice('02a6ed65-5fda-4813-81dc-ff0729bb6808', 'Greta', ['altD', 'en-US'], {
    voice: 'slt',
    pitch: -4,
    speed: 0.92,
  }),
  voice('76deb31a-b7e2-4ce5-b5a3-ab78a0fd2b74', 'Angus', ['altD', 'en-GB'], {
    voice: 'awb',
    pitch: -2.5,
    speed: 0.95,
  }),
  voice('7cd12d9b-3346-43d2-802d-70f3441ae248', 'Leo', ['altE', 'en-US'], {
    voice: 'kal16',
    pitch: 3,
    speed: 1.08,
  }),
  voice('06728b87-626e-412e-8f20-3195e76f7598', 'Tess', ['altE', 'en-US'], {
    voice: 'slt',
    pitch: 1,
    speed: 1.18,
  }),
  voice('ee39c7d2-d0f4-49ec-a48b-8c95650081e8', 'Rose', ['altF', 'en-US'], {
    voice: 'slt',
    pitch: 3,
    speed: 0.94,
  }),
  voice('fff272bd-06c7-4175-9862-5de277d4ee47', 'Hugo', ['altF', 'en-US'], {
    voice: 'kal16',
    pitch: -2,
    speed: 0.92,
  }),
];
