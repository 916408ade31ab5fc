/** The options of `createClient`. */
export interface ClientOptions {
  /** URL of the service. Unencrypted URLs (`http:`) are allowed only for this computer. */
  readonly baseUrl: string;
  /** URL of the realtime host; default: `baseUrl` with `ws:` or `wss:` as the protocol. */
  readonly realtimeUrl?: string | undefined;
  /** API key. It is sent only to `baseUrl` and `realtimeUrl`. */
  readonly apiKey: string;
  /**
   * Folder in which each billed request is recorded before it is sent; default: no records. `foley recover` finds the
   * unfinished requests if this folder is `$XDG_STATE_HOME/foley`.
   */
  readonly journal?: string | undefined;
  /** Maximum number of retries of a request; default 4. */
  readonly maxRetries?: number | undefined;
  /** Maximum wait for response headers, in milliseconds; default: 10 minutes for billed requests, else 1 minute. */
  readonly responseTimeoutMs?: number | undefined;
  /** Maximum wait for the next bytes of a response body, in milliseconds; default: 1 minute. */
  readonly idleTimeoutMs?: number | undefined;
}

/**
 * A client of the API. If a call fails, it throws a `FoleyError`. If `signal` aborts a call, it throws the abort
 * reason.
 */
export interface Client {
  readonly speech: {
    /** Speaks a text in one request. Checks that the audio is complete and valid. */
    create(request: SpeechRequest): Promise<Speech>;
    /** Speaks a text, and returns the time of each word. */
    aligned(request: SpeechRequest): Promise<AlignedSpeech>;
    /** Sends a text over a WebSocket, piece by piece, and receives the speech. */
    live(request: LiveRequest): Promise<LiveSpeech>;
  };
  readonly jobs: {
    /** Creates a speech job. */
    create(request: JobRequest): Promise<Job>;
    get(id: string, options?: CallOptions): Promise<Job>;
    /** Lists one page of the speech jobs, newest first. */
    list(query?: JobQuery): Promise<JobList>;
    /**
     * Waits until a job has ended. Throws a `FoleyError` with exit code 20 if the job failed, or 28 after `timeoutMs`.
     */
    wait(id: string, options?: WaitOptions): Promise<Job>;
    /** Downloads and verifies the audio of a job or of one of its segments. The download is free. */
    download(id: string, options?: DownloadOptions): Promise<DownloadedFile>;
  };
  readonly voices: {
    /** Lists one page of the voices. */
    list(query?: VoiceQuery): Promise<VoiceList>;
    get(id: string, options?: CallOptions): Promise<Voice>;
    /**
     * Creates a voice from recordings. Failed requests are not retried, because a retry could create a second voice.
     */
    create(request: VoiceRequest): Promise<CreatedVoice>;
    delete(id: string, options?: CallOptions): Promise<void>;
  };
  readonly media: {
    /**
     * Creates a lip-sync, dubbing, image or video job.
     * @param body the JSON request body as described in docs/api/media.md and docs/api/lip-sync.md
     */
    create(kind: MediaKind, body: MediaBody, options?: BilledOptions): Promise<Job>;
    get(kind: MediaKind, id: string, options?: CallOptions): Promise<Job>;
    /**
     * Waits until a job has ended. Throws a `FoleyError` with exit code 20 if the job failed, or 28 after `timeoutMs`.
     */
    wait(kind: MediaKind, id: string, options?: WaitOptions): Promise<Job>;
    /** Downloads the image or video of a job, and verifies it. The download is free. */
    download(kind: MediaKind, id: string, options?: CallOptions): Promise<DownloadedFile>;
  };
  /** Closes all connections of the client. */
  close(): Promise<void>;
}

export interface CallOptions {
  /** Aborts the call. A request that was already sent may still be billed. */
  readonly signal?: AbortSignal | undefined;
}

export interface BilledOptions extends CallOptions {
  /** Idempotency key, by which the service recognizes a repeated request; default: a random key. */
  readonly idempotencyKey?: string | undefined;
  /** The id with which the service logs the request; default: a random id. */
  readonly requestId?: string | undefined;
}

/** The speech controls of a request. The client sends only those that are set. */
export interface Controls {
  /** Speaking rate, 0.5 to 2. */
  readonly speed?: number | undefined;
  /** Gain in decibels, -20 to 20. */
  readonly volume?: number | undefined;
  /** Stability of the delivery, 0 to 1.5. */
  readonly stability?: number | undefined;
  /** Similarity to the original voice, 0 to 1.5. */
  readonly similarity?: number | undefined;
  /** Language hint, such as `en` or `pt-BR`. */
  readonly language?: string | undefined;
  /** True to speak numbers, dates and units as words; false to leave them unchanged. */
  readonly textNormalization?: boolean | undefined;
}

export interface JobRequest extends BilledOptions, Controls {
  readonly text: string;
  readonly voiceId: string;
  /** Model id; default: the default model of the voice. */
  readonly modelId?: string | undefined;
  /** Audio format; default mp3. */
  readonly format?: 'mp3' | 'ogg' | 'wav' | undefined;
  /** Pitch shift in semitones, -12 to 12. */
  readonly pitch?: number | undefined;
  readonly emotion?: string | undefined;
  /** A description of how to speak: style, dialect, role or mood. */
  readonly instruction?: string | undefined;
  /** True to leave out decorative kaomoji, such as `(◕‿◕)`. */
  readonly filterEmoji?: boolean | undefined;
}

export interface SpeechRequest extends JobRequest, AudioListener {}

export interface LiveRequest extends CallOptions, Controls, AudioListener {
  /** The text as a string, or pieces of text that arrive over time. */
  readonly text: string | AsyncIterable<string>;
  readonly voiceId: string;
  /** Model id. Default: the voice determines the model family, and the default model of this family is used. */
  readonly modelId?: string | undefined;
  /** Audio format; default mp3. */
  readonly format?: 'mp3' | 'opus' | 'pcm' | 'wav' | undefined;
  /** Request id. After a failure, a request with the same request id resumes the failed request. */
  readonly requestId?: string | undefined;
}

export interface AudioListener {
  /**
   * Called with each chunk of audio as it arrives, before the audio is verified. The next chunk waits until the
   * returned promise, if any, resolves.
   */
  readonly onAudio?: ((chunk: Uint8Array) => void | Promise<void>) | undefined;
}

/** The complete audio of a text, after verification. */
export interface Speech {
  readonly audio: Uint8Array;
  readonly format: string;
  /** Duration in milliseconds; undefined if the audio file does not state its duration. */
  readonly durationMs: number | undefined;
  readonly requestId: string;
  readonly creditsUsed: number | undefined;
  readonly quotaRemaining: number | undefined;
  /** Names of the speech controls that the service did not apply. */
  readonly ignoredParameters: readonly string[];
  /** Words of the text that the voice did not speak, with their positions in the text. */
  readonly unspoken: readonly UnspokenWord[];
}

export interface UnspokenWord {
  readonly text: string;
  readonly start: number;
  /** Position after the last character of the word, in code points. */
  readonly end: number;
}

export interface AlignedSpeech extends Speech {
  readonly words: readonly SpokenWord[];
  /** True if every word of the text has a start and end time. */
  readonly complete: boolean;
}

export interface SpokenWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

export interface LiveSpeech extends Omit<Speech, 'ignoredParameters' | 'unspoken'> {
  /** Number of segments that the service completed. A short string is sent without segments, so the number is 0. */
  readonly segments: number;
  /** Words of the text that the voice did not speak. */
  readonly unspoken: readonly string[];
}

export interface Job {
  readonly id: string;
  /** Status of the job in the words of the service, such as `processing`. */
  readonly status: string;
  readonly phase: 'failed' | 'partial' | 'running' | 'success';
  readonly requestId: string;
  /** Credits reserved for a running job, or charged for an ended job; undefined if the service reports no cost. */
  readonly creditsUsed: number | undefined;
  readonly quotaRemaining: number | undefined;
  /** The complete JSON body of the response. */
  readonly raw: unknown;
}

export interface JobQuery extends CallOptions {
  readonly page?: number | undefined;
  readonly limit?: number | undefined;
  readonly status?: string | undefined;
}

export interface JobList {
  readonly items: readonly ListedJob[];
  readonly page: number;
  /** Number of the next page; undefined on the last page. */
  readonly nextPage: number | undefined;
}

export interface ListedJob {
  readonly id: string;
  readonly status: string;
  readonly textPreview: string;
  readonly voiceId: string;
  readonly creditsUsed: number | undefined;
  readonly createdAt: string;
}

export interface WaitOptions extends CallOptions {
  /** Maximum wait in milliseconds; default: no limit. The job continues after the wait has ended. */
  readonly timeoutMs?: number | undefined;
}

export interface DownloadOptions extends CallOptions {
  /** Number of the segment to download, from 0; default: the whole job. */
  readonly segment?: number | undefined;
}

/** A downloaded file, after verification. */
export interface DownloadedFile {
  readonly data: Uint8Array;
  readonly format: string;
  /** Duration in milliseconds; undefined for an image, or if the file does not state its duration. */
  readonly durationMs: number | undefined;
}

export interface VoiceQuery extends CallOptions {
  readonly page?: number | undefined;
  readonly pageSize?: number | undefined;
  /** True to list the voices of the account in addition to the public voices. */
  readonly includePersonal?: boolean | undefined;
}

export interface VoiceList {
  readonly items: readonly Voice[];
  readonly page: number;
  readonly total: number;
  readonly totalPages: number;
}

export interface Voice {
  readonly voiceId: string;
  readonly name: string;
  readonly isPersonal: boolean;
  readonly primaryLanguage: string;
  readonly languages: readonly string[];
  readonly modelIds: readonly string[];
}

export interface VoiceRequest extends CallOptions {
  readonly name: string;
  /** Paths of recordings of the speaker, of at most 10 MB each. */
  readonly files: readonly string[];
  readonly description?: string | undefined;
  /** Transcript of the recordings. */
  readonly referenceText?: string | undefined;
  readonly visibility?: 'private' | 'public' | undefined;
  readonly languages?: readonly string[] | undefined;
}

export interface CreatedVoice {
  readonly voiceId: string;
  readonly name: string | undefined;
  readonly requestId: string;
  readonly creditsUsed: number | undefined;
}

export type MediaKind = 'dub' | 'image' | 'lipsync' | 'video';

export type MediaBody = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>;
