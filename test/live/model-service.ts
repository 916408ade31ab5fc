import type { ClientMessage } from '../../src/contract/realtime/client-messages.ts';

/** A message of the service with v3 field names. */
export type Said = { readonly event: string } & Readonly<Record<string, unknown>>;

interface SpokenSegment {
  readonly segmentId: string;
  readonly text: string;
  readonly sequence: number;
  readonly frames: readonly Uint8Array[];
  state: 'failed' | 'completed';
  charges: number;
}

interface Request {
  readonly requestId: string;
  readonly segments: SpokenSegment[];
  state: 'running' | 'completed' | 'failed_retryable';
}

export interface ModelChoices {
  /** Whether audio is numbered over the request, or from 1 in each segment. */
  readonly numbering: 'request' | 'segment';
  /** The state of a segment whose connection drops while it is spoken. */
  readonly interrupted: 'stored' | 'failed';
  /** How many status requests get `running` before the real state. */
  readonly busyAnswers: number;
  /** Bytes of an audio frame. */
  readonly frameBytes: number;
}

/** A model of the service, with its charges and the audio of an undisturbed request. */
export class ModelService {
  readonly requests = new Map<string, Request>();
  readonly #choices: ModelChoices;
  #busy = 0;

  constructor(choices: ModelChoices) {
    this.#choices = choices;
  }

  get frameBytes(): number {
    return this.#choices.frameBytes;
  }

  connect(): ModelConnection {
    return new ModelConnection(this);
  }

  status(requestId: string): Said | undefined {
    const request = this.requests.get(requestId);
    if (request === undefined) return undefined;
    const isBusy = this.#busy > 0;
    this.#busy -= isBusy ? 1 : 0;
    const state = isBusy ? 'running' : request.state;
    const done = request.segments.filter((one) => one.state === 'completed');
    return {
      event: 'request_status',
      requestId,
      state,
      retryable: state === 'failed_retryable',
      units: 0,
      resultAvailable: done.length > 0,
      ...(done.length === 0 ? {} : { segments: done.map((one) => manifestRow(one)) }),
    };
  }

  stored(requestId: string, segmentId: string): Uint8Array | undefined {
    const segments = this.requests.get(requestId)?.segments;
    const found = segments?.find((one) => one.segmentId === segmentId);
    return found?.state === 'completed' ? Buffer.concat(found.frames) : undefined;
  }

  start(requestId: string, retryFailed: boolean): Request | undefined {
    const known = this.requests.get(requestId);
    if (known !== undefined) {
      if (!retryFailed || known.state !== 'failed_retryable') return undefined;
      known.state = 'running';
      return known;
    }
    const request: Request = { requestId, segments: [], state: 'running' };
    this.requests.set(requestId, request);
    return request;
  }

  /** Returns the sequence numbers of a segment's audio. */
  firstNumber(request: Request, segment: SpokenSegment): number {
    if (this.#choices.numbering === 'segment') return 1;
    const before = request.segments.slice(0, request.segments.indexOf(segment));
    return before.reduce((sum, { frames }) => sum + frames.length, 1);
  }

  lose(request: Request | undefined): void {
    if (request?.state !== 'running') return;
    request.state = 'failed_retryable';
    this.#busy = this.#choices.busyAnswers;
    if (this.#choices.interrupted === 'stored') {
      for (const segment of request.segments) segment.state = 'completed';
    }
  }

  get charges(): readonly number[] {
    return [...this.requests.values()].flatMap(({ segments }) =>
      segments.map((one) => one.charges),
    );
  }
}

/** One connection of the service: returns the replies to a message, in order. */
export class ModelConnection {
  #request: Request | undefined;
  readonly #service: ModelService;
  #buffer: { readonly sequence: number; readonly text: string }[] = [];

  constructor(service: ModelService) {
    this.#service = service;
  }

  receive(message: ClientMessage): readonly Said[] {
    switch (message.event) {
      case 'start':
        return this.#start(
          message.requestId ?? `made-${this.#service.requests.size}`,
          message.retryFailed ?? false,
        );
      case 'text':
        this.#buffer.push(message);
        return [{ event: 'input_ack', acceptedSequence: message.sequence }];
      case 'flush':
        return this.#flush(message.segmentId);
      case 'input':
        this.#buffer.push({ sequence: 1, text: message.text });
        return message.commit === false ? [] : [...this.#flush('only'), ...this.#stop()];
      case 'stop':
        return this.#stop();
      case 'ping':
        return [{ event: 'pong' }];
      case 'auth':
        return [];
    }
  }

  /** Called when a message has reached the client. */
  delivered(said: Said): void {
    const segment = this.#request?.segments.find((one) => one.segmentId === said['segmentId']);
    if (said.event === 'audio' && segment?.charges === 0) segment.charges = 1;
    if (said.event === 'segment_completed' && segment) segment.state = 'completed';
    if (said.event === 'finish' && this.#request) this.#request.state = 'completed';
  }

  lose(): void {
    this.#service.lose(this.#request);
  }

  #start(requestId: string, retryFailed: boolean): readonly Said[] {
    this.#request = this.#service.start(requestId, retryFailed);
    const status = this.#service.status(requestId) ?? { event: 'none' };
    return [this.#request === undefined ? status : { event: 'ready', requestId, format: 'mp3' }];
  }

  #flush(segmentId: string): readonly Said[] {
    const request = this.#request;
    if (request === undefined) throw new Error('a flush before the start');
    const text = this.#buffer.map((one) => one.text).join('');
    const sequence = this.#buffer[0]?.sequence ?? 0;
    this.#buffer = [];
    const known = request.segments.find((one) => one.segmentId === segmentId);
    if (known && (known.text !== text || (known.sequence !== sequence && segmentId !== 'only'))) {
      return [{ event: 'error', code: 'idempotency_conflict', message: 'other', retryable: false }];
    }
    const frames = framesOf(text, this.#service.frameBytes);
    const segment = known ?? { segmentId, text, sequence, frames, state: 'failed', charges: 0 };
    if (known === undefined) request.segments.push(segment);
    const first = this.#service.firstNumber(request, segment);
    const audioBytes = Buffer.concat(frames).length;
    return [
      { event: 'segment_accepted', segmentId, reservedUnits: text.length },
      ...frames.map((audio, at) => ({ event: 'audio', segmentId, sequence: first + at, audio })),
      { event: 'usage', segmentId, sessionUnits: 0 },
      ...(segmentId === 'only' ? [] : [{ event: 'segment_completed', segmentId, audioBytes }]),
    ];
  }

  #stop(): readonly Said[] {
    return [{ event: 'finish', reason: 'completed', units: 0 }];
  }
}

/** Returns the audio of a text: its bytes, in frames. */
function framesOf(text: string, size: number): readonly Uint8Array[] {
  const bytes = Buffer.from(text);
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_none, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
}

function manifestRow({ segmentId, sequence, text, frames }: SpokenSegment) {
  const audioBytes = Buffer.concat(frames).length;
  return { segmentId, sequence, characters: text.length, audioBytes, state: 'completed' };
}
