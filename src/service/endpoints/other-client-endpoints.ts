import type { AudioFormat } from '../../contract/values.ts';
import type {
  CompatModel,
  CompatModels,
  CompatSpeechEvent,
  CompatVoices,
} from '../../contract/other-clients.ts';
import { SPEECH_SURFACES } from '../../contract/speech-surfaces.ts';
import { showText } from '../http/validation.ts';
import type { ChargedCall, Handler } from './call.ts';
import type { ServiceContext } from '../service-context.ts';
import { invalidRequest, ServiceError } from '../service-error.ts';
import { speakStream } from '../speech/speak.ts';
import type { Catalogue } from '../voices/catalogue.ts';
import type { SurfaceRequest } from './speech-endpoints.ts';
import {
  respondWithSpeech,
  beginSpeech,
  EVENT_STREAM,
  chargedResponse,
} from './speech-endpoints.ts';

/** Handles `POST /v1/tts` (docs/api/other-clients.md), with a body in JSON or MessagePack. */
export const createCompatTts: Handler<'createCompatTts'> = (call, context) => {
  const { body } = call;
  const { text, reference_id: voiceId, prosody, temperature, top_p: similarity } = body;
  const order = {
    text,
    voiceId,
    modelId: modelOfLabel(call.request.headers.get('model'), context.catalogue),
    format: compatFormat(body.format),
    speed: prosody?.speed ?? body.speed,
    stability: temperature,
    similarity,
    textNormalization: body.normalize,
  };
  return respondCompat(call, context, { surface: 'compat-tts', order, otherFormat: 'mp3' });
};

/** Handles `POST /v1/audio/speech` (docs/api/other-clients.md). */
export const createCompatSpeech: Handler<'createCompatSpeech'> = (call, context) => {
  const { body } = call;
  const { aliases } = context;
  const { input: text, voice, model, response_format: format, speed } = body;
  const voiceId = aliases.idOf(typeof voice === 'string' ? voice : voice.id);
  const modelId = aliases.idOf(model);
  const order = { text, voiceId, modelId, format, speed };
  const request = { surface: 'compat-speech', order } as const;
  return body.stream_format === 'sse'
    ? respondCompat(call, context, request, respondWithEvents)
    : respondCompat(call, context, request);
};

/** Handles `GET /v1/audio/voices` (docs/api/other-clients.md). */
export const listCompatVoices: Handler<'listCompatVoices'> = ({ account }, context) => {
  const catalogue = context.catalogue.of(account);
  const aliased = context.aliases.voices.flatMap(({ id, name }) => {
    const voice = catalogue.voice(id);
    return voice === undefined ? [] : [{ id: name, name: voice.name }];
  });
  const voices = catalogue.voices.map(({ id, name }) => ({ id, name }));
  const body: CompatVoices = { voices: [...voices, ...aliased] };
  return Response.json(body);
};

/** Handles `GET /v1/models` for OpenAI clients. Only the embedded service has this endpoint. */
export const listCompatModels: Handler<'listCompatModels'> = (_call, context) => {
  const { aliases, catalogue } = context;
  const models = [...catalogue.models.map(({ id }) => ({ id, name: id })), ...aliases.models];
  const available = models.filter(({ id }) => catalogue.isAvailable(id));
  const body: CompatModels = {
    object: 'list',
    data: available.map(({ name }) => compatModel(name)),
  };
  return Response.json(body);
};

/** Handles `GET /v1/models/{modelId}` for OpenAI clients. Only the embedded service has this endpoint. */
export const getCompatModel: Handler<'getCompatModel'> = (call, { aliases, catalogue }) => {
  const { modelId } = call.parameters;
  const model = catalogue.model(aliases.idOf(modelId));
  if (model !== undefined && catalogue.isAvailable(model.id)) {
    return Response.json(compatModel(modelId));
  }
  const message = `No such model: ${showText(modelId)}; GET /v1/models lists them`;
  throw new ServiceError('ERR_NOT_FOUND', message);
};

function compatModel(id: string): CompatModel {
  return { id, object: 'model', created: 0, owned_by: 'foley' };
}

// In other interfaces, an unknown voice is a 400 error instead of a 404.
async function respondCompat(
  call: ChargedCall,
  context: ServiceContext,
  request: SurfaceRequest,
  respond: typeof respondWithSpeech = respondWithSpeech,
): Promise<Response> {
  try {
    return await respond(call, context, request);
  } catch (error) {
    const isUnknownVoice = error instanceof ServiceError && error.code === 'ERR_VOICE_NOT_FOUND';
    if (!isUnknownVoice) throw error;
    const { voiceId } = SPEECH_SURFACES[request.surface].fields;
    throw invalidRequest([{ field: voiceId, message: error.message }]);
  }
}

// `stream_format: sse` requests `speech.audio.delta` events, then `speech.audio.done`.
async function respondWithEvents(
  call: ChargedCall,
  context: ServiceContext,
  request: SurfaceRequest,
): Promise<Response> {
  const speaking = beginSpeech(call, context, request);
  const { body, quotaRemaining } = await speakStream(speaking);
  const characters = speaking.plan.charge.quota;
  const events = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      const audio = Buffer.from(bytes).toString('base64');
      controller.enqueue(eventBytes({ type: 'speech.audio.delta', audio }));
    },
    flush(controller) {
      const usage = { input_tokens: characters, output_tokens: 0, total_tokens: characters };
      controller.enqueue(eventBytes({ type: 'speech.audio.done', usage }));
    },
  });
  const stream = { body: body.pipeThrough(events), quotaRemaining };
  return chargedResponse(speaking.plan, stream, { type: EVENT_STREAM, listsIgnored: false });
}

function eventBytes(event: CompatSpeechEvent): Uint8Array {
  return Buffer.from(`data: ${JSON.stringify(event)}\n\n`);
}

function compatFormat(name: string | undefined): AudioFormat {
  const { formats } = SPEECH_SURFACES['compat-tts'];
  return formats.find((format) => format === name) ?? 'mp3';
}

// The model names of `POST /v1/tts`, each with the id of the model that is used instead (docs/api/other-clients.md).
const MODELS_BY_LABEL = new Map([
  ['s2.1-pro', 'vendor-s21pro'],
  ['s2.1-pro-free', 'vendor-s21pro-free'],
  ['s2.1-flash', 'vendor-s21-flash'],
  ['s2.1-pro-flash', 'vendor-s21pro-flash'],
  ['s2-pro', 'vendor-s2pro'],
  ['s1', 'vendor-s1'],
  ['s1-mini', 'vendor-s1'],
  ['speech-1.5', 'vendor-s1'],
  ['speech-1.6', 'vendor-s1'],
  ['1.6', 'vendor-s1'],
]);

// `label` is the header `model`: a name or a model id. Undefined, the default model, for any other header.
function modelOfLabel(label: string | null, catalogue: Catalogue): string | undefined {
  const name = label?.trim() ?? '';
  return MODELS_BY_LABEL.get(name) ?? catalogue.model(name)?.id;
}
