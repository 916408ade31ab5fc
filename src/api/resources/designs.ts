import type { VoiceVisibility } from '../../contract/reference-audio.ts';
import { answeredUrl, audioAnswer } from '../audio-response.ts';
import type { AudioAnswer } from '../audio-response.ts';
import type { ApiClient, CreateAnswer } from '../client.ts';
import { readCreateAnswer } from '../client.ts';
import { download, FILE_REQUEST } from '../download.ts';
import { charged, isNotFound, reviseFailure } from '../failures.ts';
import { endpoint, jsonBody } from '../request.ts';
import type { BilledOptions, RequestSpec } from '../request.ts';
import type { UnknownRecord } from '../response.ts';
import { badAnswer, firstText, isRecord } from '../response.ts';
import type { MadeVoice } from './voices.ts';
import { readMadeVoice, refusedVoice } from './voices.ts';

/** What a voice is to be like (docs/api/voice-design.md). */
export interface DesignOrder {
  readonly prompt: string;
  readonly previewText: string;
  /** Engine families; by default the service chooses. */
  readonly providers?: readonly string[] | undefined;
}

/** One voice that a design proposes; its id is no voice id (docs/api/voice-design.md). */
interface DesignCandidate {
  readonly candidateId: string;
  /** As the service wrote it. */
  readonly previewAudioUrl: string | undefined;
  /** Further words on it, where the service has some. */
  readonly description: string | undefined;
}

/** A temporary design; its id is no voice id. */
export interface VoiceDesign extends Omit<CreateAnswer, 'made'> {
  readonly designId: string;
  readonly candidates: readonly DesignCandidate[];
  /** ISO 8601, where the service says so. */
  readonly expiresAt: string | undefined;
}

/** Which candidate is kept, and as what. */
export interface DesignChoice {
  readonly designId: string;
  readonly candidateId: string;
  readonly name: string;
  readonly visibility?: VoiceVisibility | undefined;
  /** By default that of the design. */
  readonly language?: string | undefined;
}

/** The request of {@link createVoiceDesign}, to be described or sent. */
export function designRequest(order: DesignOrder, options: BilledOptions): RequestSpec {
  return keyedCreate(endpoint('createVoiceDesign'), { ...order }, options);
}

/**
 * Has candidates made for a voice that is described in words.
 * @throws Failure; one whose answer names no design may have been billed
 */
export async function createVoiceDesign(
  client: ApiClient,
  order: DesignOrder,
  options: BilledOptions,
): Promise<VoiceDesign> {
  const answer = await client.send(designRequest(order, options));
  const { made, ...told } = await readCreateAnswer(answer, ['design', 'data']);
  const designId = firstText(made['designId'], made['id']);
  const candidates = readCandidates(made['candidates']);
  if (designId === undefined || candidates === undefined) {
    throw charged(badAnswer('the answer names no design', answer));
  }
  return { ...told, designId, candidates, expiresAt: firstText(made['expiresAt']) };
}

/** The request of {@link saveVoiceDesign}, to be described or sent. */
export function saveDesignRequest(choice: DesignChoice, options: BilledOptions): RequestSpec {
  const { designId, ...body } = choice;
  return keyedCreate(endpoint('saveVoiceDesign', { designId }), body, options);
}

/**
 * Makes a permanent voice of a candidate.
 * @throws Failure (rejected) for a design that is gone; one whose answer names no voice may have made it
 */
export async function saveVoiceDesign(
  client: ApiClient,
  choice: DesignChoice,
  options: BilledOptions,
): Promise<MadeVoice> {
  try {
    return await readMadeVoice(await client.send(saveDesignRequest(choice, options)));
  } catch (error) {
    throw refusedVoice(goneDesign(error));
  }
}

/** The same error, which says that designs are temporary where it says that one is not there. */
function goneDesign(error: unknown): unknown {
  if (!isNotFound(error)) return error;
  const hint =
    'Designs are temporary: it may have expired. Check both ids, or make another with `foley design create`.';
  return reviseFailure(error, { hint });
}

function keyedCreate(
  call: Pick<RequestSpec, 'method' | 'public' | 'target'>,
  body: UnknownRecord,
  { idempotencyKey, onNewKey, requestId, signal }: BilledOptions,
): RequestSpec {
  return {
    ...call,
    body: jsonBody(body),
    billed: true,
    retry: 'keyed',
    key: { ...idempotencyKey, sentAs: 'Idempotency-Key' },
    requestId,
    signal,
    onNewKey,
  };
}

function readCandidates(value: unknown): readonly DesignCandidate[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const candidates = value.map((candidate) => readCandidate(candidate));
  return candidates.every((candidate) => candidate !== undefined) ? candidates : undefined;
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

/** Which candidate is listened to. */
export interface CandidateRef {
  readonly designId: string;
  readonly candidateId: string;
  /** Where its design said that the preview is; by default where the spec says so. */
  readonly previewAudioUrl?: string | undefined;
}

/**
 * The preview of a candidate (docs/api/voice-design.md), with the key where it is on the service's own origin.
 * It costs nothing.
 * @throws Failure (rejected) for a design that is gone
 */
export async function fetchCandidateAudio(
  client: ApiClient,
  { candidateId, designId, previewAudioUrl }: CandidateRef,
  signal?: AbortSignal,
): Promise<AudioAnswer> {
  const { target } = endpoint('getCandidateAudio', { designId, candidateId });
  const told = answeredUrl(client, previewAudioUrl);
  const accept = 'audio/*, application/json';
  try {
    const answer = await download(
      client,
      // A link that was told is good for a while; the path of the spec gets a fresh one.
      (headers, isAgain) => {
        const spec = { ...FILE_REQUEST, accept, headers, signal };
        return client.send({ ...spec, target: isAgain ? target : (told ?? target) });
      },
      signal,
    );
    const audio = await audioAnswer(client, answer, { isOpaqueFine: true });
    // What a download says of credits is not what the design cost.
    return { ...audio, creditsUsed: undefined };
  } catch (error) {
    throw goneDesign(error);
  }
}
