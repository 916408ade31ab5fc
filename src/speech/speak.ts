import path from 'node:path';
import type { ApiClient } from '../api/client.ts';
import type { RequestSpec } from '../api/request.ts';
import type { AudioResponse, SpeechOptions, SpeechOrder } from '../api/resources/speech.ts';
import { speechRequest, synthesize } from '../api/resources/speech.ts';
import type { Format } from '../audio/formats.ts';
import { extensionOf } from '../audio/formats.ts';
import type { Verdict } from '../audio/reader.ts';
import { Failure } from '../errors/failure.ts';
import type { Intent, IntentMetadata, IntentJournal } from '../durable/intents.ts';
import type { Output } from '../durable/output.ts';
import type { Spool, SpoolAbout } from '../durable/spool.ts';
import {
  recordFailure,
  recordCancellation,
  withCost,
  beginBilledRequest,
} from './billed-request.ts';
import type { BilledRequest } from './billed-request.ts';
import type { AudioSink } from './deliver.ts';
import { deliver } from './deliver.ts';
import type { OutputPlan } from './output-plan.ts';
import type { RecoverableSink } from './fallback-sink.ts';
import { FallbackSink, recoverableFile, recoverableStream } from './fallback-sink.ts';
import { abortable } from '../effects/concurrency.ts';

/** Audio that arrived whole and was checked. */
export interface Spoken {
  /** The file it is in; undefined when it went to stdout or to a player. */
  readonly path: string | undefined;
  readonly verdict: Verdict;
  readonly answer: Facts;
}

type Facts = Omit<AudioResponse, 'body' | 'discard'>;

export interface AudioStream extends AudioSink {
  /** All was written; resolves when it was taken. */
  end(): Promise<void>;
  /** So much of what went through is remembered, so that it can be kept when the stream fails. */
  readonly memoryBytes: number;
}

/** For audio that goes into a file only. */
export const NOWHERE: AudioStream = {
  write: () => Promise.resolve(),
  end: () => Promise.resolve(),
  memoryBytes: 0,
};

/** One transport to ask for speech whose answer is the audio itself. */
export interface SpeechTransport {
  /** What is sent, as it is written down before. */
  readonly request: RequestSpec;
  /** Resolves when the audio begins to arrive; is told when a key was refunded and another is used. */
  ask(onNewKey: (key: string) => Promise<void>): Promise<AudioResponse>;
  /** The flags with which the same is asked for again at no cost; `--idempotency-key` by default. */
  readonly repeatWith?: string | undefined;
  /** Asked for so again it goes on where it was. */
  readonly isResumable?: boolean | undefined;
  /** All of the audio came and was checked; it gets its name only when this resolves. */
  arrived?(verdict: Verdict): Promise<void>;
}

export interface SpeakOptions {
  readonly client: ApiClient;
  readonly body: SpeechOrder;
  readonly speech: SpeechOptions;
  /** How it is asked for; by default as `speech` says, in one answer. */
  readonly transport?: SpeechTransport | undefined;
  readonly plan: OutputPlan<Format>;
  /** The opened file; without it the audio goes to `stream`. */
  readonly output: Output | undefined;
  /** Stdout, a player, or both. */
  readonly stream: AudioStream;
  readonly journal: IntentJournal;
  /** The operation of an interrupted command, which goes on; by default a new one. */
  readonly resumes?: Intent | undefined;
  /** It is a part of a longer text, which `foley recover` asks for again with the others. */
  readonly isPart?: boolean | undefined;
  readonly spool: () => Promise<Spool>;
  /** Tells the person something that is no failure. */
  readonly notice: (line: string) => void;
}

/**
 * Speaks and streams the audio to where it was planned to go; a file gets its name
 * only when everything in it was checked. What was paid for and cannot get there is kept in the spool.
 * @throws Failure, which names what was kept; the caller abandons the output then
 */
export async function speak(options: SpeakOptions): Promise<Spoken> {
  const { output, plan, speech } = options;
  const transport = options.transport ?? synchronous(options);
  // While what is about to be asked for reaches the disk; nothing is sent before that.
  if (options.transport === undefined) options.client.prepare();
  const work = await begin(options, transport);
  let answer: Facts | undefined;
  let isWhole = false;
  const sink = new FallbackSink(recoverableOutput(options), options.spool, () =>
    spoolAbout(options, work, answer),
  );
  try {
    const audio = await transport.ask((key) => work.renew(key));
    answer = audio;
    void work.accepted(factsOf(audio));
    const verdict = await deliver(audio, plan.format, sink, textOf(options));
    isWhole = true;
    if (sink.failure !== undefined) throw sink.failure;
    await transport.arrived?.(verdict);
    for (const { position, bytes } of verdict.corrections) await output?.overwrite(position, bytes);
    const checksum = await output?.checksum();
    if (checksum !== undefined) await work.verified({ bytes: verdict.bytes, checksum });
    const published = await output?.publish();
    if (output === undefined) await abortable(options.stream.end(), speech.signal);
    await work.published({ bytes: verdict.bytes, requestId: audio.requestId });
    return { path: published?.path, verdict, answer: audio };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    const kept = await sink.keep({ complete: isWhole, problem });
    if (speech.signal?.aborted === true) {
      options.notice(await recordCancellation(work, kept));
      throw speech.signal.reason;
    }
    if (error instanceof Failure) throw await recordFailure(withCost(error, answer), work, kept);
    await work.abandoned();
    throw error;
  }
}

/** Of a conversation the text is not known when it begins. */
function textOf({ body: { text } }: SpeakOptions): string | undefined {
  return text === '' ? undefined : text;
}

function synchronous({ body, client, speech }: SpeakOptions): SpeechTransport {
  return {
    request: speechRequest(client, body, speech),
    ask: (onNewKey) => synthesize(client, body, { ...speech, onNewKey }),
  };
}

function begin(options: SpeakOptions, transport: SpeechTransport): Promise<BilledRequest> {
  const { client, journal, output, resumes, speech } = options;
  const { isResumable, repeatWith, request } = transport;
  return beginBilledRequest(journal, {
    wire: client.describe(request),
    target: client.address.kind,
    idempotencyKey: speech.idempotencyKey?.value,
    hasOwnKey: speech.idempotencyKey?.madeByTool === false,
    apiKey: client.address.apiKey,
    requestId: speech.requestId ?? null,
    repeatWith,
    isResumable,
    output: nameOf(output),
    temporary: output?.temporary === undefined ? null : path.resolve(output.temporary),
    body: mayBeAsked(options, transport) ? request.body?.bytes : undefined,
    resumes,
  });
}

/** Whether `foley recover` can ask for it by itself: of a stream it would not know where the times of its words go. */
function mayBeAsked(
  { isPart, resumes, transport }: SpeakOptions,
  { request }: SpeechTransport,
): boolean {
  const isSynchronous = transport === undefined || resumes !== undefined;
  return isSynchronous && isPart !== true && request.retry === 'keyed';
}

function factsOf({ creditsUsed, requestId }: Facts): IntentMetadata {
  return creditsUsed === undefined ? { requestId } : { requestId, creditsUsed };
}

/** Where a file is going to be; a stream or a device is no place to which anything could come later. */
function nameOf(output: Output | undefined): string | null {
  return output?.temporary === undefined ? null : path.resolve(output.path);
}

/** Of a file that grows everything can be had back, of a stream or a device what is remembered. */
function recoverableOutput({ output, speech, stream }: SpeakOptions): RecoverableSink {
  if (output?.temporary !== undefined) return recoverableFile(output);
  const sink: AudioSink = output ?? stream;
  return recoverableStream(
    (chunk) => abortable(sink.write(chunk), speech.signal),
    stream.memoryBytes,
  );
}

function spoolAbout(
  { output, plan }: SpeakOptions,
  work: BilledRequest,
  answer: Facts | undefined,
): SpoolAbout {
  return {
    what: 'speech',
    extension: extensionOf(plan.format),
    output: nameOf(output),
    requestId: answer?.requestId ?? null,
    creditsUsed: answer?.creditsUsed ?? null,
    operation: work.id,
    problem: null,
  };
}
