import path from 'node:path';
import type { ApiClient } from '../../api/client.ts';
import type { RequestSpec } from '../../api/request.ts';
import type {
  AudioResponse,
  SpeechOptions,
  SpeechOrder,
  SpeechReport,
} from '../../api/resources/speech.ts';
import { sendSpeech, speechRequest } from '../../api/resources/speech.ts';
import type { Format } from '../../audio/formats.ts';
import { extensionOf } from '../../audio/formats.ts';
import type { AudioVerdict } from '../../audio/reader.ts';
import { openSpeechOutput } from '../../audio/encode/encoded-output.ts';
import type { Marks } from '../../audio/encode/tags.ts';
import type { AudioFormat, FileFormat } from '../../contract/values.ts';
import type { System } from '../../system/system.ts';
import { requireOutputSpace, requireSpoolSpace } from '../../durable/free-space.ts';
import { automaticName } from '../../durable/names.ts';
import type { AudibleInterval, Output, SoundChanges } from '../../durable/output.ts';
import type { Spool } from '../../durable/spool.ts';
import { abortable } from '../../system/concurrency.ts';
import { Failure } from '../../errors/failure.ts';
import type { RecordedRequest, RequestRecorder } from '../billed-request.ts';
import {
  beginBilledRequest,
  recordCancellation,
  recordFailure,
  withBillingOutcome,
} from '../billed-request.ts';
import type { AudioSink, AudioOutputStream } from '../deliver.ts';
import {
  deliver,
  expectedBytes,
  publishVerified,
  FallbackSink,
  recoverableFile,
  recoverableStream,
} from '../deliver.ts';
import type { ReuseStore } from '../reuse/reuse-store.ts';
import { sweepTemporaries } from '../sweep-temporaries.ts';

/** The result of `speak`: complete, verified audio. */
export interface Spoken {
  /** Path of the output file; undefined if the audio went to stdout or a player. */
  readonly path: string | undefined;
  readonly verdict: AudioVerdict;
  readonly response: SpeechReport;
}

export interface AudioStream extends AudioOutputStream {
  /**
   * Audio of up to this number of bytes is kept in memory, so that foley can save it if the stream fails. Longer audio
   * cannot be saved.
   */
  readonly memoryBytes: number;
}

/** A stream that discards all audio. Used when the audio goes only into a file. */
export const DISCARD: AudioStream = {
  write: () => Promise.resolve(),
  end: () => Promise.resolve(),
  memoryBytes: 0,
};

/** A transport for speech: sends a request whose response is the audio. */
export interface SpeechTransport {
  readonly request: RequestSpec;
  /**
   * Sends the request, whose `onNewKey` records a new idempotency key in the journal. Resolves when audio begins to
   * arrive.
   */
  send(request: RequestSpec): Promise<AudioResponse>;
  /** Flags with which the user can repeat the request without a second charge; default `--idempotency-key`. */
  readonly repeatWith?: string | undefined;
  readonly isResumable?: boolean | undefined;
  /** Whether the response has word times, so that reused audio must have them too. */
  readonly isAligned?: boolean | undefined;
  /**
   * Called after all audio is verified. The output file gets its final name after the returned promise resolves.
   * @param audible the part of the audio that the file will have; undefined for all of it
   */
  onVerified?(
    audio: AudioResponse,
    verdict: AudioVerdict,
    audible: AudibleInterval | undefined,
  ): Promise<void>;
}

export interface SpeakOptions {
  readonly client: ApiClient;
  readonly body: SpeechOrder;
  readonly speech: SpeechOptions;
  /** How the speech is requested; default: one synchronous request. */
  readonly transport?: SpeechTransport | undefined;
  readonly format: Format;
  /** The open output file; if undefined, the audio goes to `stream`. */
  readonly output: Output | undefined;
  /** The destination if there is no output file: stdout, a player, or both. */
  readonly stream: AudioStream;
  readonly journal: RequestRecorder;
  /** The recorded operation to resume after an interruption; if undefined, a new operation is recorded. */
  readonly resumes?: RecordedRequest | undefined;
  /**
   * True if the text is a part of a long text. `foley recover` does not recover a part by itself; it resumes the long
   * text.
   */
  readonly isPart?: boolean | undefined;
  readonly spool: () => Promise<Spool>;
  /** The bought audio to reuse (`--reuse`); undefined to buy all audio. */
  readonly reuse?: ReuseStore | undefined;
  readonly notice: (line: string) => void;
}

/**
 * Speaks a text and writes the audio to its output as it arrives. A file gets its final name after all audio is
 * verified. Billed audio that cannot be delivered is saved in the spool. Reused audio is neither recorded nor billed. After
 * any error, the caller must abandon the output.
 * @throws Failure, which names the saved audio if there is any
 * @throws the signal's abort reason
 */
export async function speak(options: SpeakOptions): Promise<Spoken> {
  const { body, client, format, journal, output, resumes, reuse, speech } = options;
  const transport = options.transport ?? synchronous(options);
  const { surface = 'v3' } = speech;
  const bought = { surface, order: body, needsWords: transport.isAligned };
  const reused = await reuse?.find(bought);
  if (reused !== undefined) return deliverReused(options, transport, reused);
  // Connect while the journal is written; nothing is sent before that.
  if (options.transport === undefined) client.prepare();
  const { isResumable, repeatWith, request } = transport;
  const billed = await beginBilledRequest({
    client,
    journal,
    request,
    key: speech.idempotencyKey,
    requestId: speech.requestId,
    repeatWith,
    isResumable,
    output,
    isPart: options.isPart,
    body: isRecoverable(options, request) ? request.body?.bytes : undefined,
    resumes,
  });
  let response: Spoken['response'] | undefined;
  let isWhole = false;
  const sink = new FallbackSink(recoverableOutput(options), options.spool, () => ({
    what: 'speech',
    extension: extensionOf(format),
    output: output?.temporary === undefined ? null : path.resolve(output.path),
    requestId: response?.requestId ?? null,
    creditsUsed: response?.creditsUsed ?? null,
    operation: billed.id,
    problem: null,
    changes: output?.changes,
  }));
  try {
    const onNewKey = async (key: string): Promise<void> => {
      await speech.onNewKey?.(key);
      await billed.renew(key);
    };
    const audio = await transport.send({ ...request, onNewKey });
    response = audio;
    const { creditsUsed, requestId } = audio;
    void billed.advance('accepted', { requestId, creditsUsed });
    // The text of a conversation is unknown when it begins.
    const text = body.text === '' ? undefined : body.text;
    const verdict = await deliver(audio, format, sink, text, reuse?.copyOf(bought, audio));
    isWhole = true;
    if (sink.failure !== undefined) throw sink.failure;
    const { bytes } = verdict;
    const spoken = await publish(options, transport, { audio, verdict }, (checksum) =>
      billed.advance('verified', { bytes, checksum }),
    );
    await billed.published({ bytes, requestId });
    return spoken;
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    const saved = await sink.save({ complete: isWhole, problem });
    if (speech.signal?.aborted === true) {
      options.notice(await recordCancellation(billed, saved));
      throw speech.signal.reason;
    }
    if (error instanceof Failure)
      throw await recordFailure(withBillingOutcome(error, response), billed, saved);
    await billed.abandoned();
    throw error;
  }
}

/** Delivers audio that an earlier request bought. Nothing is sent. */
async function deliverReused(
  options: SpeakOptions,
  transport: SpeechTransport,
  audio: AudioResponse,
): Promise<Spoken> {
  const { body, format, output, speech, stream } = options;
  const sink: AudioSink = output ?? stream;
  const write = (chunk: Uint8Array): Promise<void> => abortable(sink.write(chunk), speech.signal);
  const verdict = await deliver(audio, format, { write }, body.text);
  return publish(options, transport, { audio, verdict });
}

async function publish(
  { output, speech, stream }: SpeakOptions,
  transport: SpeechTransport,
  { audio, verdict }: { readonly audio: AudioResponse; readonly verdict: AudioVerdict },
  onVerified?: (checksum: string) => Promise<void>,
): Promise<Spoken> {
  const made = await publishVerified({ output, stream }, verdict, speech.signal, async (sum) => {
    if (sum !== undefined) await onVerified?.(sum);
    await transport.onVerified?.(audio, verdict, await output?.audible?.());
  });
  return { path: made.path, verdict: made.verdict, response: audio };
}

function synchronous({ body, client, speech }: SpeakOptions): SpeechTransport {
  return {
    request: speechRequest(client, body, speech),
    send: (request) => sendSpeech(client, request, speech.cache === true),
  };
}

function isRecoverable(
  { isPart, resumes, transport }: SpeakOptions,
  request: RequestSpec,
): boolean {
  const isSynchronous = transport === undefined || resumes !== undefined;
  return isSynchronous && isPart !== true && request.retry === 'keyed';
}

function recoverableOutput({ output, speech, stream }: SpeakOptions) {
  if (output?.temporary !== undefined) return recoverableFile(output);
  const sink: AudioSink = output ?? stream;
  return recoverableStream(
    (chunk) => abortable(sink.write(chunk), speech.signal),
    stream.memoryBytes,
  );
}

/** Where audio is written, and in which format the service makes it. */
export type OutputPlan<Possible extends Format = AudioFormat> = OutputTarget &
  ChosenFormat<Possible>;

export interface ChosenFormat<Possible extends Format> {
  /** The format that the service makes. */
  readonly format: Possible;
  /** The format of the output, if the service does not make it. foley then encodes the audio, which is wav. */
  readonly encoding?: FileFormat | undefined;
  /** The changes that foley makes to the sound, which is wav; undefined for none. */
  readonly changes?: SoundChanges | undefined;
}

type OutputTarget =
  | { readonly kind: 'stdout' }
  | { readonly kind: 'file'; readonly path: string }
  /**
   * A file named `path`, or named after the text if `path` is undefined. If the file exists, foley
   * adds a number to the name.
   */
  | { readonly kind: 'automatic'; readonly path?: string }
  /** Audio that goes only to the player, without a file. */
  | { readonly kind: 'player' };

interface OpenPlannedOptions {
  /** Tags and chapters, if foley encodes the file. */
  readonly marks?: Marks | undefined;
  readonly text: string;
  /** Silence to add to the speech, in milliseconds; default none. */
  readonly silenceMs?: number;
  readonly noClobber: boolean;
  /** foley's state folder, which contains the spool. */
  readonly state: string;
  /** Called with a sentence about a file that could not get the requested loudness. */
  readonly warn?: (sentence: string) => void;
  // Aborts the wait for a reader, if the output is a pipe.
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens the output file and checks that the disk has space. Called before anything is billed. Returns undefined for
 * stdout and players.
 * @throws Failure of kind `output`, `exists`, `usage` or `state`
 */
export async function openPlanned(
  system: System,
  plan: OutputPlan<Format>,
  { noClobber, silenceMs, state, text, ...rest }: OpenPlannedOptions,
): Promise<Output | undefined> {
  const { files } = system;
  const bytes = expectedBytes(text, plan.format, silenceMs);
  await requireSpoolSpace(path.join(state, 'spool'), bytes, files);
  if (plan.kind === 'stdout' || plan.kind === 'player') return undefined;
  const named = noClobber ? 'refuse' : 'replace';
  const options = {
    ...rest,
    changes: plan.changes,
    path: plan.path ?? automaticName(text, extensionOf(plan.encoding ?? plan.format)),
    existing: plan.kind === 'file' ? named : 'number',
  } as const;
  const output = await openSpeechOutput(system, options, plan.format);
  if (output.temporary === undefined) return output;
  await sweepTemporaries(system, path.dirname(output.temporary), state);
  try {
    await requireOutputSpace(output.path, bytes, { files });
    return output;
  } catch (error) {
    await output.abandon();
    throw error;
  }
}
