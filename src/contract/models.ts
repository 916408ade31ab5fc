import { Type } from 'typebox';
import type { Static } from 'typebox';
import { named } from './schemas.ts';
import type { Endpoint } from './endpoint.ts';

/** The controls that a model supports (docs/api/models.md). */
export const ModelControls = Type.Object(
  {
    speed: Type.Boolean({
      description: 'Whether the model applies the `speed` of a speech request',
    }),
    volume: Type.Boolean({
      description: 'Whether the model applies the `volume` of a speech request',
    }),
    pitch: Type.Boolean({
      description: 'Whether the model applies the `pitch` of a speech request',
    }),
    stability: Type.Boolean({
      description: 'Whether the model applies the `stability` of a speech request',
    }),
    similarity: Type.Boolean({
      description: 'Whether the model applies the `similarity` of a speech request',
    }),
  },
  { description: 'Speech controls that the model supports' },
);
export type ModelControls = Static<typeof ModelControls>;

/** Capabilities of one model (docs/api/models.md). */
export const Model = named('Model', {
  id: Type.String({ description: 'Public model id' }),
  available: Type.Boolean({ description: 'Whether the model can be used' }),
  maxTextLength: Type.Integer({ minimum: 1, description: 'Maximum text length in characters' }),
  outputFormats: Type.Array(Type.String(), {
    description: 'Audio formats that the model produces',
  }),
  controls: ModelControls,
  supportedOperations: Type.Object(
    {
      synchronous: Type.Boolean({
        description: 'Whether the model can return the audio in the response',
      }),
      asynchronous: Type.Boolean({ description: 'Whether the model accepts speech jobs' }),
      alignedStreaming: Type.Boolean({
        description: 'Whether the model streams audio with word times',
      }),
    },
    { description: 'Kinds of speech request that the model supports' },
  ),
});
export type Model = Static<typeof Model>;

export const Capabilities = named('Capabilities', {
  contractVersion: Type.String({
    description: 'Newest version of the speech API that the service supports',
  }),
  route: Type.String({ description: 'Path of the speech endpoint' }),
  models: Type.Array(Model, { description: 'All models, including unavailable ones' }),
});
export type Capabilities = Static<typeof Capabilities>;

export const MODEL_ENDPOINTS = [
  {
    id: 'getCapabilities',
    method: 'GET',
    path: '/api/open/v3/speech/tts/capabilities',
    public: true,
    section: 'models',
    summary: 'List models with their limits, formats and controls',
    success: Capabilities,
  },
] as const satisfies readonly Endpoint[];
