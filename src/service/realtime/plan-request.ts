import { Type } from 'typebox';
import { PARAMETER_PROFILES } from '../../contract/realtime/protocols.ts';
import type { RealtimeProtocol } from '../../contract/realtime/protocols.ts';
import { StartRequest } from '../../contract/realtime/start-request.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { anyOf } from '../wording/describe-allowed.ts';
import { showValue } from '../wording/show-value.ts';
import { planLegacy } from './legacy-request.ts';
import { planLenient } from './lenient-request.ts';
import type { RequestFields, RequestPlan } from './request-plan.ts';
import {
  checkRequest,
  nameIn,
  requireModel,
  requireVoice,
  RequestProblem,
} from './request-plan.ts';

/**
 * Decides how a `start.request` is spoken (spec section 4.10). v3 leaves out what it cannot use and warns;
 * `product_v1` of v2 clamps what is out of range; the legacy profile of v2 refuses it.
 * @throws RequestProblem
 */
export function planRequest(
  request: RequestFields,
  { protocol, catalogue }: { readonly protocol: RealtimeProtocol; readonly catalogue: Catalogue },
): RequestPlan {
  const isLegacy = protocol === 'v2' && isLegacyProfile(request['parameterProfile']);
  const { voiceId, modelId } = checkRequest(Speakers, request, protocol);
  const nameOf = nameIn(protocol);
  const voice = requireVoice(voiceId, catalogue, nameOf('voiceId'));
  const model = requireModel(modelId, voice, { catalogue, path: nameOf('modelId') });
  const subject = { voice, model, protocol, nameOf };
  return isLegacy ? planLegacy(request, subject) : planLenient(request, subject);
}

const { voiceId, modelId } = StartRequest.properties;
const Speakers = Type.Object({ voiceId, modelId });

const [LEGACY, PRODUCT] = PARAMETER_PROFILES;

function isLegacyProfile(profile: unknown): boolean {
  if (profile === undefined || profile === LEGACY) return true;
  if (profile === PRODUCT) return false;
  const path = 'request.parameter_profile';
  const message = `${path} is ${showValue(profile)}; allowed is ${anyOf(PARAMETER_PROFILES)}`;
  throw new RequestProblem({ code: 'invalid_message', message, path });
}
