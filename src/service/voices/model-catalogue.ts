import type { FamilyId } from '../../contract/families.ts';
import type { ModelControls } from '../../contract/models.ts';
import type { SpeechFormat } from '../../contract/speech.ts';
import type { EngineRegistry } from '../engine/speech-engine.ts';

/** A speech model: capabilities, limits and price. */
export interface CatalogueModel {
  readonly id: string;
  readonly family: FamilyId;
  readonly maxTextLength: number;
  readonly outputFormats: readonly SpeechFormat[];
  readonly controls: ModelControls;
  /** True if the model supports the `emotion` control (docs/api/speech.md#v1). */
  readonly emotion: boolean;
  /** True if the model supports the `instruction` control (docs/api/speech.md#v1). */
  readonly instruction: boolean;
  /** True if the model supports streams with word times (docs/api/speech.md#aligned-stream). */
  readonly alignedStreaming: boolean;
  readonly creditsPerCharacter: number;
}

const MP3_AND_WAV = ['mp3', 'wav'] as const;

/**
 * The speech models of docs/api/models.md. Their text limits, formats, operations and prices are invented. These
 * values differ between models, so that clients have to query them (docs/service.md).
 */
export const MODELS: readonly CatalogueModel[] = [
  model('vendor-s21pro', 'vendor', 10_000, 1),
  model('vendor-s21pro-flash', 'vendor', 10_000, 0.5),
  model('vendor-s21pro-free', 'vendor', 1_000, 0),
  model('vendor-s21-flash', 'vendor', 10_000, 0.5),
  model('vendor-s2pro', 'vendor', 10_000, 1),
  model('vendor-s1', 'vendor', 5_000, 1, { alignedStreaming: false }),
  model('altA-2.8-turbo', 'altA', 10_000, 0.75),
  model('altA-2.8-hd', 'altA', 10_000, 1.25),
  model('altA-2.6-turbo', 'altA', 5_000, 0.75, { outputFormats: MP3_AND_WAV }),
  model('altA-2.6-hd', 'altA', 5_000, 1.25, { outputFormats: MP3_AND_WAV }),
  model('altB3-tts-flash', 'altB', 2_000, 0.5),
  model('altB-audio-3.0-tts-plus', 'altB', 4_000, 1.25, { instruction: true }),
  model('altB-audio-3.0-tts-flash', 'altB', 4_000, 0.75, { instruction: true }),
  model('altC-v3-flash', 'altC', 5_000, 0.75, { outputFormats: MP3_AND_WAV }),
  model('altD-tts-2.0', 'altD', 3_000, 1, {
    outputFormats: ['mp3', 'ogg'],
    alignedStreaming: false,
  }),
  model('altE-3.8-flash-tts', 'altE', 8_000, 0.75, { outputFormats: MP3_AND_WAV }),
  model('altE-3.8-flash-lite-tts', 'altE', 8_000, 0.5, { outputFormats: MP3_AND_WAV }),
  model('altF-flash-v2.5', 'altF', 10_000, 0.5),
  model('altF-multilingual-v2', 'altF', 10_000, 1),
];

/** Returns the models that the user's engines define (docs/engines.md#models). */
export function engineModels(engines: EngineRegistry): readonly CatalogueModel[] {
  const found = new Map<string, CatalogueModel>();
  for (const { engine } of engines.all()) {
    const controls = new Set(engine.voices.flatMap((voice) => voice.controls ?? []));
    for (const { id } of engine.models ?? []) {
      if (found.has(id)) continue;
      found.set(id, {
        ...model(id, 'local', LOCAL_TEXT_MAX, LOCAL_CREDITS),
        controls: {
          speed: controls.has('speed'),
          volume: controls.has('volume'),
          pitch: controls.has('pitch'),
          stability: controls.has('stability'),
          similarity: controls.has('similarity'),
        },
        emotion: controls.has('emotion'),
        instruction: controls.has('instruction'),
      });
    }
  }
  return [...found.values()];
}

// The same values as for the default model of added engines without models of their own.
const LOCAL_TEXT_MAX = 10_000;
const LOCAL_CREDITS = 0.5;

function model(
  id: string,
  family: FamilyId,
  maxTextLength: number,
  creditsPerCharacter: number,
  differences: Partial<CatalogueModel> = {},
): CatalogueModel {
  // No engine has a control like stability or similarity.
  const pitch = family === 'altA' || family === 'altB';
  const controls = { speed: true, volume: family !== 'altF', pitch };
  return {
    id,
    family,
    maxTextLength,
    outputFormats: ['mp3', 'wav', 'ogg'],
    controls: { ...controls, stability: false, similarity: false },
    emotion: family === 'altA',
    instruction: false,
    alignedStreaming: true,
    creditsPerCharacter,
    ...differences,
  };
}
