import type { ApiClient } from '../api/client.ts';
import { badAnswer } from '../api/answer.ts';
import { fetchRealtimeSegment, getRealtimeRequest } from '../api/realtime.ts';
import { reviseFailure } from '../api/revise-failure.ts';
import type { RealtimeProtocol } from '../contract/realtime/protocols.ts';
import { Failure } from '../errors/failure.ts';
import { UnreadableFrame } from '../frames/check-frame.ts';
import type { Questions } from './conversation.ts';
import { lost } from './endings.ts';
import { readRequestFacts } from './server-message.ts';

/** The longest segment is some minutes of speech; this is an hour of samples. */
const SEGMENT_MAX_BYTES = 256 * 1024 * 1024;

/** What is asked over HTTP after a line broke (spec section 4.10). */
export function httpQuestions(client: ApiClient, protocol: RealtimeProtocol): Questions {
  return {
    async status(requestId, signal) {
      const answer = await getRealtimeRequest(client, protocol, { requestId, signal }).catch(
        (error: unknown) => {
          if (isNotFound(error)) return undefined;
          throw error;
        },
      );
      if (answer === undefined) return undefined;
      try {
        return readRequestFacts(answer.value);
      } catch (error) {
        if (!(error instanceof UnreadableFrame)) throw error;
        throw badAnswer(`the state of the request cannot be read: ${error.message}`, answer);
      }
    },
    async segment(requestId, segmentId, signal) {
      const { body } = await fetchRealtimeSegment(client, { requestId, segmentId, signal }).catch(
        (error: unknown) => {
          throw isNotFound(error) ? gone(error, segmentId) : error;
        },
      );
      const parts: Uint8Array[] = [];
      let size = 0;
      for await (const part of body) {
        size += part.length;
        if (size > SEGMENT_MAX_BYTES) {
          throw badAnswer(`the stored ${segmentId} is larger than can be right`, { requestId });
        }
        parts.push(part);
      }
      return Buffer.concat(parts, size);
    },
  };
}

function isNotFound(error: unknown): error is Failure {
  return error instanceof Failure && error.status === 404;
}

/** It was completed, so that it is paid for. */
function gone(failure: Failure, segmentId: string): Failure {
  const { code, exit, message, billed } = lost([segmentId]);
  const details = { segments: [segmentId] };
  return reviseFailure(failure, { billed, code, details, exit, hint: undefined, message });
}
