import type { Segment, SpokenRequest } from './request-book.ts';
import { PCM } from './segment-audio.ts';
import type { Message } from './wire-names.ts';

export type ReplyFields = Readonly<Record<string, unknown>>;

/** Returns a server event with v3 names, without undefined fields. */
export function reply(event: string, fields: ReplyFields = {}): Message {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(given), event };
}

/** Returns an `error` event; by default neither terminal nor retryable. */
export function fault(code: string, fields: ReplyFields = {}): Message {
  return reply('error', {
    code,
    message: `The script answers ${code}.`,
    retryable: false,
    terminal: false,
    ...fields,
  });
}

/** Returns the additional fields of `ready` and `audio` for pcm. */
export function pcmFields(format: string): ReplyFields {
  return format === 'pcm' ? PCM : {};
}

/** Returns the audio messages of a segment, one per frame. */
export function audioMessages(
  { requestId, format }: SpokenRequest,
  segment: Segment,
  sessionId: string,
): Message[] {
  const { segmentId } = segment;
  const all = { requestId, sessionId, segmentId, format, ...pcmFields(format) };
  return segment.frames.map(({ sequence, audio }) => reply('audio', { ...all, sequence, audio }));
}
