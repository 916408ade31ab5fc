import type { FamilyId } from '../../contract/families.ts';
import type { ModelControls } from '../../contract/models.ts';
import type { SpeechFormat } from '../../contract/speech.ts';

/** What this service knows about a model besides its capability record. */
export interface CatalogueModel {
  readonly id: string;
  readonly family: FamilyId;
  readonly maxTextLength: number;
  readonly outputFormats: readonly SpeechFormat[];
  readonly controls: ModelControls;
  /** Follows the `emotion` control (docs/api/speech.md#v1: altA). */
  readonly emotion: boolean;
  /** Follows the `instruction` control (docs/api/speech.md#v1: altB audio 3.0). */
  readonly instruction: boolean;
  /** Can be asked for a stream with the times of words (docs/api/speech.md#aligned-stream). */
  readonly alignedStreaming: boolean;
  readonly creditsPerCharacter: number;
}

type Traits = Pick<CatalogueModel, 'maxTextLength' | 'creditsPerCharacter'> &
  Partial<Pick<CatalogueModel, 'outputFormats' | 'instruction' | 'alignedStreaming'>>;

const ALL_FORMATS = ['mp3', 'wav', 'ogg'] as const;

/** The controls that change the sound. No engine has anything like stability or similarity. */
const CONTROLS: Record<FamilyId, ModelControls> = {
  vendor: { speed: true, volume: true, pitch: false, stability: false, similarity: false },
  altA: { speed: true, volume: true, pitch: true, stability: false, similarity: false },
  altB: { speed: true, volume: true, pitch: true, stability: false, similarity: false },
  altC: { speed: true, volume: true, pitch: false, stability: false, similarity: false },
  altD: { speed: true, volume: true, pitch: false, stability: false, similarity: false },
  altE: { speed: true, volume: true, pitch: false, stability: false, similarity: false },
  altF: { speed: true, volume: false, pitch: false, stability: false, similarity: false },
};

function model(id: string, family: FamilyId, traits: Traits): CatalogueModel {
  return {
    outputFormats: ALL_FORMATS,
    emotion: family === 'altA',
    instruction: false,
    alignedStreaming: true,
    ...traits,
    id,
    family,
    controls: CONTROLS[family],
  };
}

/**
 * Every model of the spec's section 2.3. The spec leaves lengths, formats, operations and prices to
 * the service; these differ between models so that a client has to look (docs/service.md).
 */
export const MODELS: readonly CatalogueModel[] = [
  model('vendor-s21pro', 'vendor', { maxTextLength: 10_000, creditsPerCharacter: 1 }),
  model('vendor-s21pro-flash', 'vendor', { maxTextLength: 10_000, creditsPerCharacter: 0.5 }),
  model('vendor-s21pro-free', 'vendor', { maxTextLength: 1_000, creditsPerCharacter: 0 }),
  model('vendor-s21-flash', 'vendor', { maxTextLength: 10_000, creditsPerCharacter: 0.5 }),
  model('vendor-s2pro', 'vendor', { maxTextLength: 10_000, creditsPerCharacter: 1 }),
  model('vendor-s1', 'vendor', {
    maxTextLength: 5_000,
    creditsPerCharacter: 1,
    alignedStreaming: false,
  }),
  model('altA-2.8-turbo', 'altA', { maxTextLength: 10_000, creditsPerCharacter: 0.75 }),
  model('altA-2.8-hd', 'altA', { maxTextLength: 10_000, creditsPerCharacter: 1.25 }),
  model('altA-2.6-turbo', 'altA', {
    maxTextLength: 5_000,
    creditsPerCharacter: 0.75,
    outputFormats: ['mp3', 'wav'],
  }),
  model('altA-2.6-hd', 'altA', {
    maxTextLength: 5_000,
    creditsPerCharacter: 1.25,
    outputFormats: ['mp3', 'wav'],
  }),
  model('altB3-tts-flash', 'altB', { maxTextLength: 2_000, creditsPerCharacter: 0.5 }),
  model('altB-audio-3.0-tts-plus', 'altB', {
    maxTextLength: 4_000,
    creditsPerCharacter: 1.25,
    instruction: true,
  }),
  model('altB-audio-3.0-tts-flash', 'altB', {
    maxTextLength: 4_000,
    creditsPerCharacter: 0.75,
    instruction: true,
  }),
  model('altC-v3-flash', 'altC', {
    maxTextLength: 5_000,
    creditsPerCharacter: 0.75,
    outputFormats: ['mp3', 'wav'],
  }),
  model('altD-tts-2.0', 'altD', {
    maxTextLength: 3_000,
    creditsPerCharacter: 1,
    outputFormats: ['mp3', 'ogg'],
    alignedStreaming: false,
  }),
  model('altE-3.8-flash-tts', 'altE', {
    maxTextLength: 8_000,
    creditsPerCharacter: 0.75,
    outputFormats: ['mp3', 'wav'],
  }),
  model('altE-3.8-flash-lite-tts', 'altE', {
    maxTextLength: 8_000,
    creditsPerCharacter: 0.5,
    outputFormats: ['mp3', 'wav'],
  }),
  model('altF-flash-v2.5', 'altF', { maxTextLength: 10_000, creditsPerCharacter: 0.5 }),
  model('altF-multilingual-v2', 'altF', { maxTextLength: 10_000, creditsPerCharacter: 1 }),
];
