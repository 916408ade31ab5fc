import type { Segment, SpokenRequest } from './request-book.ts';
import { PCM } from './segment-audio.ts';
import type { Message } from './wire-names.ts';

export type ReplyFields = Readonly<Record<string, unknown>>;

/** A server event in the names of v3; what is undefined is left out. */
export function reply(event: string, fields: ReplyFields = {}): Message {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(given), event };
}

/** An `error` event: not terminal and not to be retried, unless the fields say otherwise. */
export function fault(code: string, fields: ReplyFields = {}): Message {
  return reply('error', {
    code,
    message: `The script answers ${code}.`,
    retryable: false,
    terminal: false,
    ...fields,
  });
}

/** What `ready` and `audio` carry besides when the format is pcm. */
export function pcmFields(format: string): ReplyFields {
  return format === 'pcm' ? PCM : {};
}

/** The audio of a segment, a message a frame. */
export function audioMessages(
  { requestId, format }: SpokenRequest,
  segment: Segment,
  sessionId: string,
): Message[] {
  const { segmentId } = segment;
  const all = { requestId, sessionId, segmentId, format, ...pcmFields(format) };
  return segment.frames.map(({ sequence, audio }) => reply('audio', { ...all, sequence, audio }));
}
