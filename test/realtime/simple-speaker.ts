import type { Speaker } from './conversation.ts';
import { LIMITS } from './messages.ts';
import type { RequestBook, SpokenRequest } from './request-book.ts';
import { audioMessages, fault, reply } from './server-replies.ts';
import type { Message } from './wire-names.ts';

/** The parameters of a spoken request. */
export interface Speaking {
  readonly request: SpokenRequest;
  readonly sessionId: string;
  readonly book: RequestBook;
  readonly quota: () => number;
}

/** Simple mode: collects inputs until one commits, and speaks them as one segment. */
export function speakSimple({ request, sessionId, book }: Speaking): Speaker {
  let text = '';
  let isCommitted = false;
  return { receive };

  function receive(message: Message): Message[] {
    const { event, commit, eventId: inReplyTo } = message;
    if (event !== 'input' || isCommitted) {
      return [fault('invalid_state', { inReplyTo })];
    }
    text += String(message['text']);
    if (Array.from(text).length > LIMITS.simpleInput) {
      return [fault('session_limit_exceeded', { inReplyTo, terminal: true })];
    }
    isCommitted = commit !== false;
    return isCommitted ? spoken() : [];
  }

  function spoken(): Message[] {
    const segment = book.accept(request, { segmentId: 'segment-1', text, sequences: [] });
    const { requestId } = request;
    const units = segment.units;
    const finish = reply('finish', { requestId, sessionId, reason: 'completed', units });
    return [...audioMessages(request, segment, sessionId), finish];
  }
}
