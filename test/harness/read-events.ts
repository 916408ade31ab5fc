import { createParser, type EventSourceMessage } from 'eventsource-parser';

/** The events of an aligned stream, read by a parser from a registry. */
export interface ReadStream {
  /** Names of the events in order, `heartbeat` for comments. */
  readonly names: readonly string[];
  readonly events: readonly ReadEvent[];
  /** The audio, joined. */
  readonly audio: Uint8Array;
  /** The words of each chunk that holds at the end, in the order of the chunks. */
  readonly words: readonly ReadWord[];
  readonly last: ReadEvent | undefined;
}

export interface ReadEvent {
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface ReadWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** Reads an aligned stream to its end. */
export async function readEvents(response: Response): Promise<ReadStream> {
  return parseEvents(await response.text());
}

/** Parses the text of an aligned stream, or of a part of one. */
export function parseEvents(text: string): ReadStream {
  const names: string[] = [];
  const events: ReadEvent[] = [];
  const parser = createParser({
    onEvent(message: EventSourceMessage) {
      names.push(message.event ?? 'message');
      events.push({ name: message.event ?? 'message', data: Object(JSON.parse(message.data)) });
    },
    onComment: (comment) => names.push(comment.trim()),
    onError(error) {
      throw error;
    },
  });
  parser.feed(text);
  return {
    names,
    events,
    audio: Buffer.concat(events.flatMap(audioOf)),
    words: [...chunksOf(events).values()].flat(),
    last: events.at(-1),
  };
}

function audioOf({ name, data }: ReadEvent): Buffer[] {
  return name === 'audio' ? [Buffer.from(String(data['audioBase64']), 'base64')] : [];
}

/** As the spec says: a newer snapshot replaces the older, an invalidation removes it. */
function chunksOf(events: readonly ReadEvent[]): ReadonlyMap<number, readonly ReadWord[]> {
  const chunks = new Map<number, readonly ReadWord[]>();
  for (const { name, data } of events) {
    const chunk = Number(data['chunkSeq']);
    if (name === 'alignment_snapshot') chunks.set(chunk, wordsOf(data['words']));
    if (name === 'alignment_invalidated') chunks.delete(chunk);
  }
  return new Map([...chunks].toSorted(([a], [b]) => a - b));
}

function wordsOf(words: unknown): ReadWord[] {
  if (!Array.isArray(words)) throw new TypeError('The words are no list.');
  return words.map((word: unknown) => {
    const { text, startMs, endMs } = Object(word);
    return { text: String(text), startMs: Number(startMs), endMs: Number(endMs) };
  });
}
