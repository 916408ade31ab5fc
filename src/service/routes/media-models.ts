import type { MediaModels } from '../../contract/schemas/media-models.ts';
import { MediaModelsQuery } from '../../contract/schemas/media-models.ts';
import { requireQuery } from '../http/query.ts';
import { IMAGE_MODELS, VIDEO_MODELS } from '../media/catalogue/picture-models.ts';
import type { AccountCall, Handler } from './call.ts';

/** `GET /media/models`: every variant with its price and how many references it takes (spec section 4.8). */
export const getMediaModels: Handler<AccountCall> = ({ request, requestId }, { catalogue }) => {
  const { mediaType } = requireQuery(request.url, MediaModelsQuery);
  const models = [...IMAGE_MODELS, ...VIDEO_MODELS]
    .filter((model) => mediaType === undefined || model.media_type === mediaType)
    .map((model) => ({ ...model, available: catalogue.isAvailable(model) }));
  const body: MediaModels = { models, requestId };
  return Response.json(body);
};
