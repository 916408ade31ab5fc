import type { RealtimeProtocol } from '../../contract/realtime/protocols.ts';
import type { Random } from '../../effects/random.ts';
import { PCM_SAMPLE_RATE } from '../engine/encode/pcm.ts';
import { fingerprintOf } from '../operations/operations.ts';
import type { Catalogue } from '../voices/catalogue.ts';
import type { StartMessage } from './client-message.ts';
import type { SessionEvent, StartedRequest } from './machine/state.ts';
import { planRequest, RequestProblem } from './plan-request.ts';
import type { RequestPlan } from './plan-request.ts';
import type { RequestSpeakerOptions, SpeakerContext } from './request-speaker.ts';
import { RequestSpeaker } from './request-speaker.ts';
import { earlierSegments, statusOf } from './requests.ts';
import type { RequestRecord } from './requests.ts';
import type { Tickets } from './tickets.ts';

interface BeginContext extends Pick<RequestSpeakerOptions, 'tell' | 'room' | 'traceId'> {
  readonly context: SessionContext;
  readonly protocol: RealtimeProtocol;
  readonly account: string;
}

/** What comes of a `start`: a request with a speaker, or why there is none. */
interface BegunOnce {
  readonly event: SessionEvent;
  readonly speaker: RequestSpeaker | undefined;
}

/** Begins a request, or finds out what became of it before (docs/api/realtime.md#request-states and docs/api/realtime.md). */
export function beginRequest(start: StartMessage, begin: BeginContext): BegunOnce {
  const { context, protocol, account } = begin;
  try {
    const plan = planRequest(start.request, { protocol, catalogue: context.catalogue.of(account) });
    const begun = context.requests.begin({
      accountId: account,
      requestId: start.requestId ?? context.random.uuid(),
      mode: start.mode,
      fingerprint: fingerprintOf({ ...start.request }),
      format: plan.format,
      retryFailed: start.retryFailed,
    });
    if (begun.kind === 'conflict') throw new RequestProblem(CONFLICT);
    if (begun.kind === 'known') {
      return {
        event: { type: 'known', status: statusOf(begun.request, context.clock.now()) },
        speaker: undefined,
      };
    }
    const { request } = begun;
    const endpoint = protocol === 'v2' ? 'openRealtimeV2' : 'openRealtimeV3';
    const speaker = new RequestSpeaker({ ...begin, plan, request, endpoint });
    return { event: { type: 'started', request: describe(request, plan) }, speaker };
  } catch (error) {
    if (!(error instanceof RequestProblem)) throw error;
    return { event: { type: 'notStarted', problem: error.problem }, speaker: undefined };
  }
}

const CONFLICT = {
  code: 'idempotency_conflict',
  message: 'This request id was used for another request; use a new one',
} as const;

function describe(request: RequestRecord, plan: RequestPlan): StartedRequest {
  const { requestId, mode, format } = request;
  const done = request.segments.flatMap(({ audio, characters }) =>
    audio === undefined || audio.bytes === 0 ? [] : [{ ...audio, characters }],
  );
  return {
    requestId,
    mode,
    audioFormat: {
      modelId: plan.model.id,
      voiceId: plan.voice.id,
      format,
      ...(format === 'pcm' ? { sampleRate: PCM_SAMPLE_RATE, channels: 1, bitDepth: 16 } : {}),
    },
    ready: plan.ready,
    warnings: plan.warnings,
    segmentMaxCharacters: plan.model.maxTextLength,
    earlier: earlierSegments(request),
    units: done.reduce((sum, { characters }) => sum + characters, 0),
    nextAudio: 1 + done.reduce((sum, { frames }) => sum + frames, 0),
  };
}

export interface SessionContext extends SpeakerContext {
  readonly random: Random;
  readonly catalogue: Catalogue;
  readonly tickets: Tickets;
}
