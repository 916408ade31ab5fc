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
  /** In units, which are no credits: a service may price a unit as it likes. */
  readonly #units = new SessionSum();
  readonly #credits = new SessionSum();

  /** Credits that were charged; undefined where the service does not report them. */
  get creditsUsed(): number | undefined {
    return this.#credits.sum;
  }

  /** Billable units, as far as the service reports them. */
  get units(): number | undefined {
    return this.#units.sum;
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
        this.#units.note(message.sessionUnits);
        this.#credits.note(message.creditsUsed);
        break;
      case 'segment_completed':
        this.segments += 1;
        break;
      case 'finish':
        this.#units.note(message.units);
        if (message.reason !== 'completed') break;
        this.#units.beginSession();
        this.#credits.beginSession();
        break;
      case 'warning':
        break;
    }
  }
}

/** The sum of what grows within each session, and begins anew with the next one. */
class SessionSum {
  #before: number | undefined;
  #session: number | undefined;

  /** Undefined as long as nothing was reported. */
  get sum(): number | undefined {
    return this.#before === undefined ? this.#session : this.#before + (this.#session ?? 0);
  }

  /** Takes what the service reports for the session so far; late or repeated reports change nothing. */
  note(reported: number | undefined): void {
    if (reported !== undefined) this.#session = Math.max(this.#session ?? 0, reported);
  }

  beginSession(): void {
    this.#before = this.sum;
    this.#session = undefined;
  }
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
