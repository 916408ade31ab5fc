import type { Mode } from './messages.ts';
import type { SpokenText } from './segment-audio.ts';

/** Section 3.2. */
export type RequestState = 'running' | 'completed' | 'failed_retryable' | 'failed_terminal';

export interface BookOptions {
  /** Returns the audio of a segment. */
  readonly framesOf: (spoken: SpokenText) => readonly Buffer[];
  /** Whether audio is numbered over the request, or from 1 in each segment. */
  readonly numbering: 'request' | 'segment';
  /** The state of a request whose connection ended before `finish`. */
  readonly afterDrop: RequestState;
  /**
   * What a segment is that was accepted and not completed when the connection went: `stored` is
   * finished all the same, `failed` has to be spoken again.
   */
  readonly interrupted: 'stored' | 'failed';
}

/** The charge of one segment. */
interface Charge {
  readonly requestId: string;
  readonly segmentId: string;
  readonly text: string;
  readonly units: number;
}

export interface Segment {
  readonly segmentId: string;
  readonly ordinal: number;
  readonly text: string;
  /** The sequence numbers of its text events. */
  readonly sequences: readonly number[];
  readonly units: number;
  readonly frames: readonly { readonly sequence: number; readonly audio: Buffer }[];
  state: 'accepted' | 'completed' | 'failed';
  isCharged: boolean;
}

/** A started request and its state. */
export interface SpokenRequest {
  readonly requestId: string;
  readonly mode: Mode;
  /** `start.request`, with v3 field names. */
  readonly request: Readonly<Record<string, unknown>>;
  readonly format: string;
  readonly segments: Segment[];
  state: RequestState;
}

/** Every request of a server over all connections, with the charges of its segments. */
export class RequestBook {
  readonly requests = new Map<string, SpokenRequest>();
  /** In order. No segment of a request can be charged twice. */
  readonly charges: Charge[] = [];
  readonly #options: BookOptions;

  constructor(options: BookOptions) {
    this.#options = options;
  }

  begin(requestId: string, mode: Mode, request: SpokenRequest['request']): SpokenRequest {
    const { format } = request;
    const begun: SpokenRequest = {
      requestId,
      mode,
      request,
      format: typeof format === 'string' ? format : 'mp3',
      segments: [],
      state: 'running',
    };
    this.requests.set(requestId, begun);
    return begun;
  }

  accept(request: SpokenRequest, part: Pick<Segment, 'segmentId' | 'text' | 'sequences'>): Segment {
    const ordinal = request.segments.length + 1;
    const { framesOf, numbering } = this.#options;
    const before = numbering === 'request' ? request.segments : [];
    const spoken = before.flatMap(({ frames }) => frames).length;
    const { format } = request;
    const frames = framesOf({ ordinal, text: part.text, format });
    const segment: Segment = {
      ...part,
      ordinal,
      units: Array.from(part.text).length,
      frames: frames.map((audio, index) => ({ sequence: spoken + index + 1, audio })),
      state: 'accepted',
      isCharged: false,
    };
    request.segments.push(segment);
    return segment;
  }

  /** Called when the first audio of a segment was sent. */
  charge({ requestId }: SpokenRequest, segment: Segment): void {
    if (!segment.isCharged) {
      segment.isCharged = true;
      const { segmentId, text, units } = segment;
      this.charges.push({ requestId, segmentId, text, units });
    }
  }

  /** Called when the connection of an unfinished request has ended. */
  interrupt(request: SpokenRequest): void {
    request.state = this.#options.afterDrop;
    for (const segment of request.segments) {
      if (segment.state === 'accepted') {
        segment.state = this.#options.interrupted === 'stored' ? 'completed' : 'failed';
      }
    }
  }

  /** Returns the audio of an undisturbed request. */
  audioOf(requestId: string): Buffer {
    const segments = this.requests.get(requestId)?.segments ?? [];
    return Buffer.concat(segments.flatMap((segment) => segmentAudio(segment)));
  }
}

export function segmentAudio({ frames }: Segment): Buffer {
  return Buffer.concat(frames.map(({ audio }) => audio));
}

/** Returns the charged units of a request. */
export function unitsOf({ segments }: SpokenRequest): number {
  return segments.reduce((sum, { units, isCharged }) => sum + (isCharged ? units : 0), 0);
}

/** Returns the status of a request for WebSocket and HTTP, with v3 field names. */
export function statusOf(request: SpokenRequest): Record<string, unknown> {
  const completed = request.segments.filter(({ state }) => state === 'completed');
  const resultAvailable = completed.length > 0;
  return {
    requestId: request.requestId,
    state: request.state,
    retryable: request.state === 'failed_retryable',
    units: unitsOf(request),
    resultAvailable,
    segments: resultAvailable ? completed.map((segment) => manifestRow(segment)) : undefined,
  };
}

function manifestRow(segment: Segment): Record<string, unknown> {
  return {
    segmentId: segment.segmentId,
    sequence: segment.sequences.at(-1),
    firstAudioSequence: segment.frames[0]?.sequence,
    lastAudioSequence: segment.frames.at(-1)?.sequence,
    characters: segment.units,
    units: segment.units,
    audioBytes: segmentAudio(segment).byteLength,
    state: segment.state,
  };
}
