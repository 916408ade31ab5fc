import type { Capabilities } from '../../contract/schemas/model.ts';
import { modelRecord } from '../catalogue/catalogue.ts';
import type { Handler } from './call.ts';

/** Version of the HTTP speech contract that this service implements (spec section 9). */
const CONTRACT_VERSION = 'v3';

/** `GET /speech/tts/capabilities` (spec section 2.2). */
export const getCapabilities: Handler = (_call, { catalogue }) => {
  const body: Capabilities = {
    contractVersion: CONTRACT_VERSION,
    route: '/api/open/v3/speech/tts',
    models: catalogue.models.map((model) => modelRecord(model, catalogue.isAvailable(model))),
  };
  return Response.json(body);
};
