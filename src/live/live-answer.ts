import type { AudioAnswer, PcmLayout } from '../api/audio-answer.ts';
import type { FrameMessage } from '../frames/codec.ts';
import type { LiveNotice } from './conversation.ts';

/** What a conversation told on the way of itself, and of what it cost. */
export class LiveFacts {
  pcm: PcmLayout | undefined;
  quotaRemaining: number | undefined;
  ready: FrameMessage | undefined;
  /** Segments that were wholly spoken; 0 in simple mode, which has none. */
  segments = 0;
  /** Of sessions that are over, and of the one that goes on. */
  #settledUnits = 0;
  #sessionUnits: number | undefined;

  /** Units that were used, as far as the service told. */
  get creditsUsed(): number | undefined {
    return this.#sessionUnits === undefined && this.#settledUnits === 0
      ? undefined
      : this.#settledUnits + (this.#sessionUnits ?? 0);
  }

  take(notice: LiveNotice): void {
    if (notice.type !== 'notice') return;
    const { message } = notice;
    switch (message.event) {
      case 'ready':
        this.ready = message.fields;
        this.pcm = pcmLayout(message.fields);
        break;
      case 'usage':
        this.quotaRemaining = message.quotaRemaining ?? this.quotaRemaining;
        this.#sessionUnits = atLeast(this.#sessionUnits, message.sessionUnits);
        break;
      case 'segment_completed':
        this.segments += 1;
        break;
      case 'finish':
        this.#sessionUnits = atLeast(this.#sessionUnits, message.units);
        if (message.reason !== 'completed') break;
        this.#settledUnits += this.#sessionUnits ?? 0;
        this.#sessionUnits = undefined;
        break;
      case 'warning':
        break;
    }
  }
}

function atLeast(known: number | undefined, told: number | undefined): number | undefined {
  return told === undefined ? known : Math.max(known ?? 0, told);
}

function pcmLayout({ bitDepth, channels, sampleRate }: FrameMessage): PcmLayout | undefined {
  if (typeof sampleRate !== 'number' || bitDepth !== 16) return undefined;
  return { sampleRate, channels: typeof channels === 'number' ? channels : 1, bitDepth };
}

/** A conversation that has begun to speak, as an answer over HTTP would be. */
export class LiveAnswer implements AudioAnswer {
  readonly contentType = 'audio/live';
  readonly contentLength = undefined;
  /** Its end is proven by a message of its own. */
  readonly framing = 'chunked';
  readonly ignoredParameters: readonly string[] = [];
  readonly body: AsyncIterable<Uint8Array>;
  readonly discard: () => void;
  readonly requestId: string;
  readonly maxBytes: number | undefined;
  readonly #facts: LiveFacts;

  constructor(
    facts: LiveFacts,
    {
      body,
      discard,
      maxBytes,
      requestId,
    }: Pick<AudioAnswer, 'body' | 'discard' | 'maxBytes' | 'requestId'>,
  ) {
    this.#facts = facts;
    this.body = body;
    this.discard = discard;
    this.requestId = requestId;
    this.maxBytes = maxBytes;
  }

  get pcm(): PcmLayout | undefined {
    return this.#facts.pcm;
  }

  get creditsUsed(): number | undefined {
    return this.#facts.creditsUsed;
  }

  get quotaRemaining(): number | undefined {
    return this.#facts.quotaRemaining;
  }
}
