import type { VoiceVisibility } from '../../contract/reference-audio.ts';
import { resolveUrl, requireAudio } from './speech.ts';
import type { AudioResponse } from './speech.ts';
import type { ApiClient, CreateResponse } from '../client.ts';
import { readCreateResponse } from '../client.ts';
import { download, FILE_REQUEST } from '../download.ts';
import { maybeBilled, isNotFound, reviseFailure } from '../failures.ts';
import { endpoint, jsonBody, keyedRequest } from '../request.ts';
import type { BilledCallOptions, RequestSpec } from '../request.ts';
import { badResponse, firstText, isRecord, readArray } from '../response.ts';
import type { MadeVoice } from './voices.ts';
import { readMadeVoice, readTexts, withVoiceLimitHint } from './voices.ts';

export interface DesignRequest {
  readonly prompt: string;
  readonly previewText: string;
  /** Engine families that may provide the voice; by default, the service decides. */
  readonly providers?: readonly string[] | undefined;
}

// A proposed voice (docs/api/voice-design.md). Its id cannot be used as a voice id until the candidate is saved.
interface DesignCandidate {
  readonly candidateId: string;
  readonly previewAudioUrl: string | undefined;
  readonly description: string | undefined;
}

/** A temporary voice design with several candidate voices. The id of a voice design is not a voice id. */
export interface CreatedDesign extends CreateResponse {
  readonly designId: string;
  readonly candidates: readonly DesignCandidate[];
  /** When the design expires, in ISO 8601 format. */
  readonly expiresAt: string | undefined;
  /** How the service makes the voices, and what it cannot do. */
  readonly notices: readonly string[];
}

/** The candidate to save as a voice, with the title and the other fields of the new voice. */
export interface DesignChoice {
  readonly designId: string;
  readonly candidateId: string;
  readonly name: string;
  readonly visibility?: VoiceVisibility | undefined;
  /** Language of the voice; default: the language of the design. */
  readonly language?: string | undefined;
}

/** Builds the request for {@link createVoiceDesign}. */
export function designRequest(order: DesignRequest, options: BilledCallOptions): RequestSpec {
  return keyedRequest(endpoint('createVoiceDesign'), jsonBody(order), options);
}

/**
 * Creates a voice design: the service proposes voices for a description in words.
 * @param request from {@link designRequest}
 * @throws Failure. If the response contains no design id, the request may have been billed.
 */
export async function createVoiceDesign(
  client: ApiClient,
  request: RequestSpec,
): Promise<CreatedDesign> {
  const response = await client.send(request);
  const { created, made } = await readCreateResponse(response, ['design', 'data']);
  const designId = firstText(made['designId'], made['id']);
  const candidates = readArray(made['candidates'], readCandidate);
  if (designId === undefined || candidates === undefined) {
    throw maybeBilled(badResponse('the response names no design', response));
  }
  const notices = readTexts(made['notices']);
  return { ...created, designId, candidates, expiresAt: firstText(made['expiresAt']), notices };
}

/** Builds the request for {@link saveVoiceDesign}. */
export function saveDesignRequest(choice: DesignChoice, options: BilledCallOptions): RequestSpec {
  const { designId, ...body } = choice;
  return keyedRequest(endpoint('saveVoiceDesign', { designId }), jsonBody(body), options);
}

/**
 * Saves a candidate of a voice design as a permanent voice.
 * @param request from {@link saveDesignRequest}
 * @throws Failure: `rejected` for an expired design. If the response contains no voice id, the voice may still have
 * been created.
 */
export async function saveVoiceDesign(client: ApiClient, request: RequestSpec): Promise<MadeVoice> {
  try {
    return await readMadeVoice(await client.send(request));
  } catch (error) {
    throw withVoiceLimitHint(withExpiryHint(error));
  }
}

function withExpiryHint(error: unknown): unknown {
  if (!isNotFound(error)) return error;
  const hint =
    'Designs are temporary and may have expired. Check both ids, or run `foley design create` again.';
  return reviseFailure(error, { hint });
}

function readCandidate(value: unknown): DesignCandidate | undefined {
  if (!isRecord(value)) return undefined;
  const candidateId = firstText(value['candidateId'], value['id']);
  if (candidateId === undefined) return undefined;
  return {
    candidateId,
    previewAudioUrl: firstText(value['previewAudioUrl']),
    description: firstText(value['description']),
  };
}

export interface CandidateRef {
  readonly designId: string;
  readonly candidateId: string;
  /** The preview URL from the design; default: the preview endpoint of the API. */
  readonly previewAudioUrl?: string | undefined;
}

/**
 * Downloads the preview of a candidate voice, free of charge (docs/api/voice-design.md).
 * @throws Failure of kind `rejected` for an expired design
 */
export async function fetchCandidateAudio(
  client: ApiClient,
  { candidateId, designId, previewAudioUrl }: CandidateRef,
  signal?: AbortSignal,
): Promise<AudioResponse> {
  const { target } = endpoint('getCandidateAudio', { designId, candidateId });
  const known = resolveUrl(client, previewAudioUrl);
  const accept = 'audio/*, application/json';
  try {
    const response = await download(
      client,
      // The preview link in the design expires; the preview endpoint redirects to a fresh link.
      (headers, isAgain) => {
        const spec = { ...FILE_REQUEST, accept, headers, signal };
        return client.send({ ...spec, target: isAgain ? target : (known ?? target) });
      },
      signal,
    );
    const audio = await requireAudio(client, response, { isOpaqueFine: true });
    // The download repeats the credits that the design cost; the download itself is free.
    return { ...audio, creditsUsed: undefined };
  } catch (error) {
    throw withExpiryHint(error);
  }
}
