import { Type } from 'typebox';
import type { Static } from 'typebox';
import { named } from './schemas.ts';
import type { Endpoint } from './endpoint.ts';

/** The controls that a model supports (docs/api/models.md). */
export const ModelControls = Type.Object({
  speed: Type.Boolean(),
  volume: Type.Boolean(),
  pitch: Type.Boolean(),
  stability: Type.Boolean(),
  similarity: Type.Boolean(),
});
export type ModelControls = Static<typeof ModelControls>;

/** Capabilities of one model (docs/api/models.md). */
export const Model = named('Model', {
  id: Type.String({ description: 'Public model id' }),
  available: Type.Boolean({ description: 'Whether the model can be used' }),
  maxTextLength: Type.Integer({ minimum: 1, description: 'Maximum text length in characters' }),
  outputFormats: Type.Array(Type.String()),
  controls: ModelControls,
  supportedOperations: Type.Object({
    synchronous: Type.Boolean(),
    asynchronous: Type.Boolean(),
    alignedStreaming: Type.Boolean(),
  }),
});
export type Model = Static<typeof Model>;

export const Capabilities = named('Capabilities', {
  contractVersion: Type.String(),
  route: Type.String(),
  models: Type.Array(Model),
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
