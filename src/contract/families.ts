import { SIMILARITY_RANGE, SPEED_RANGE, STABILITY_RANGE, VOLUME_RANGE } from './limits.ts';

/** The allowed values of a number. Both ends belong to the range. */
export interface NumberRange {
  readonly minimum: number;
  readonly maximum: number;
}

interface ControlRange extends NumberRange {
  readonly default: number;
}

export interface Family {
  readonly id: FamilyId;
  /** The model that is used if a request names a voice of this family but no model. */
  readonly defaultModel: string;
  readonly models: readonly string[];
  readonly ranges: {
    readonly speed: ControlRange;
    readonly volume: ControlRange;
    readonly stability: ControlRange;
    readonly similarity: ControlRange;
  };
}

/**
 * Id of a model family. The family `local` contains the models of engines that the user added (docs/engines.md#models).
 */
export type FamilyId = 'vendor' | 'altA' | 'altB' | 'altC' | 'altD' | 'altE' | 'altF' | 'local';

/** Prefix of model ids. A model with this prefix belongs to an engine that the user added. */
export const LOCAL_MODEL_PREFIX = 'local-';

const speed = { ...SPEED_RANGE, default: 1 };
const volume = { ...VOLUME_RANGE, default: 0 };
const vendorLike = { minimum: 0.5, maximum: 1.5, default: 1 };
const unstated = {
  speed,
  volume,
  stability: { ...STABILITY_RANGE, default: 1 },
  similarity: { ...SIMILARITY_RANGE, default: 1 },
};

/** The control ranges of models for which the API states no ranges. */
export const WIDEST_RANGES: Family['ranges'] = unstated;

/** The model families with their models and control ranges (docs/api/models.md). */
export const FAMILIES: readonly Family[] = [
  {
    id: 'vendor',
    defaultModel: 'vendor-s21pro-flash',
    models: [
      'vendor-s21pro',
      'vendor-s21pro-flash',
      'vendor-s21pro-free',
      'vendor-s21-flash',
      'vendor-s2pro',
      'vendor-s1',
    ],
    ranges: { speed, volume, stability: vendorLike, similarity: vendorLike },
  },
  {
    id: 'altA',
    defaultModel: 'altA-2.8-turbo',
    models: ['altA-2.8-turbo', 'altA-2.8-hd', 'altA-2.6-turbo', 'altA-2.6-hd'],
    ranges: unstated,
  },
  {
    id: 'altB',
    defaultModel: 'altB3-tts-flash',
    models: ['altB3-tts-flash', 'altB-audio-3.0-tts-plus', 'altB-audio-3.0-tts-flash'],
    ranges: unstated,
  },
  { id: 'altC', defaultModel: 'altC-v3-flash', models: ['altC-v3-flash'], ranges: unstated },
  { id: 'altD', defaultModel: 'altD-tts-2.0', models: ['altD-tts-2.0'], ranges: unstated },
  {
    id: 'altE',
    defaultModel: 'altE-3.8-flash-tts',
    models: ['altE-3.8-flash-tts', 'altE-3.8-flash-lite-tts'],
    ranges: unstated,
  },
  {
    id: 'altF',
    defaultModel: 'altF-flash-v2.5',
    models: ['altF-flash-v2.5', 'altF-multilingual-v2'],
    ranges: {
      speed: { minimum: 0.7, maximum: 1.2, default: 1 },
      volume,
      stability: { minimum: 0, maximum: 1, default: 0.5 },
      similarity: { minimum: 0, maximum: 1, default: 0.75 },
    },
  },
];
