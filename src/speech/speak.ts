import path from 'node:path';
import type { ApiClient } from '../api/client.ts';
import { reviseFailure } from '../api/revise-failure.ts';
import type { AudioAnswer, SpeechOptions } from '../api/speech.ts';
import { speechRequest, synthesize } from '../api/speech.ts';
import { extensionOf } from '../audio/formats.ts';
import type { Verdict } from '../audio/verdict.ts';
import type { SpeechRequest } from '../contract/schemas/speech.ts';
import { Failure } from '../errors/failure.ts';
import type { IntentJournal } from '../files/intents.ts';
import type { Output } from '../files/output.ts';
import type { Spool, SpoolAbout } from '../files/spool.ts';
import type { AudioSink } from './deliver.ts';
import { deliver } from './deliver.ts';
import type { OutputPlan } from './output-plan.ts';
import type { PaidWork } from './paid-work.ts';
import { beginPaidWork } from './paid-work.ts';
import type { Kept } from './rescue.ts';
import { RescuingSink, returningFile, returningStream } from './rescue.ts';

/** Audio that arrived whole and was checked. */
export interface Spoken {
  /** The file it is in; undefined when it went to stdout or to a player. */
  readonly path: string | undefined;
  readonly verdict: Verdict;
  readonly answer: Facts;
}

type Facts = Omit<AudioAnswer, 'body' | 'discard'>;

export interface AudioStream extends AudioSink {
  /** All was written; resolves when it was taken. */
  end(): Promise<void>;
  /** So much of what went through is remembered, so that it can be kept when the stream fails. */
  readonly memoryBytes: number;
}

export interface SpeakOptions {
  readonly client: ApiClient;
  readonly body: SpeechRequest;
  readonly speech: SpeechOptions;
  readonly plan: OutputPlan;
  /** The opened file; without it the audio goes to `stream`. */
  readonly output: Output | undefined;
  /** Stdout, a player, or both. */
  readonly stream: AudioStream;
  readonly journal: IntentJournal;
  readonly spool: () => Promise<Spool>;
  /** Tells the person something that is no failure. */
  readonly notice: (line: string) => void;
}

/**
 * Speaks synchronously and streams the audio to where it was planned to go; a file gets its name
 * only when everything in it was checked. What was paid for and cannot get there is kept in the spool.
 * @throws Failure, which names what was kept; the caller abandons the output then
 */
export async function speak(options: SpeakOptions): Promise<Spoken> {
  const { body, client, output, plan, speech } = options;
  const work = await begin(options);
  let answer: Facts | undefined;
  const sink = new RescuingSink(
    output === undefined
      ? returningStream((chunk) => options.stream.write(chunk), options.stream.memoryBytes)
      : returningFile(output),
    options.spool,
    () => spoolAbout(options, work, answer),
  );
  try {
    const audio = await synthesize(client, body, { ...speech, onNewKey: (key) => work.renew(key) });
    answer = audio;
    const verdict = await deliver(audio, plan.format, sink);
    if (sink.failure !== undefined) throw sink.failure;
    for (const { position, bytes } of verdict.corrections) await output?.overwrite(position, bytes);
    const published = await output?.publish();
    if (output === undefined) await options.stream.end();
    await work.published({ bytes: verdict.bytes, requestId: audio.requestId });
    return { path: published?.path, verdict, answer: audio };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    const kept = await sink.keep({ complete: isWhole(error), problem });
    if (error instanceof Failure) {
      throw await concludeFailed(withCost(error, answer), work, kept);
    }
    if (speech.signal?.aborted === true) await concludeStopped(options, work, kept);
    else await work.abandoned();
    throw error;
  }
}

function begin({ body, client, journal, output, plan, speech }: SpeakOptions): Promise<PaidWork> {
  return beginPaidWork(journal, {
    wire: client.describe(speechRequest(client, body, speech)),
    target: client.address.kind,
    idempotencyKey: speech.idempotencyKey.value,
    requestId: speech.requestId ?? null,
    text: body.text,
    output: plan.kind === 'file' ? path.resolve(plan.path) : null,
    temporary: output?.temporary === undefined ? null : path.resolve(output.temporary),
  });
}

/** Everything arrived, and only the place it should go to failed. */
function isWhole(error: unknown): boolean {
  return error instanceof Failure && (error.exit === 'output' || error.exit === 'exists');
}

/** An answer that said what it costs has been paid for, whatever became of its body. */
function withCost(failure: Failure, answer: Facts | undefined): Failure {
  const isPaid = failure.billed === 'unknown' && answer?.creditsUsed !== undefined;
  return isPaid ? reviseFailure(failure, { billed: 'yes' }) : failure;
}

async function concludeFailed(
  failure: Failure,
  work: PaidWork,
  kept: Kept | undefined,
): Promise<Failure> {
  await work.failed(failure, kept);
  const hints = [
    kept === undefined ? undefined : whereItIs(kept),
    failure.hint,
    kept === undefined ? howToAskAgain(failure, work) : undefined,
  ].filter((hint) => hint !== undefined);
  return hints.length === 0 ? failure : reviseFailure(failure, { hint: hints.join(' ') });
}

/** Nobody knows whether it was paid for: asking under the same key cannot cost a second time. */
function howToAskAgain({ billed }: Failure, { key }: PaidWork): string | undefined {
  if (billed !== 'unknown') return undefined;
  return `To ask again without paying twice, add --idempotency-key ${key}.`;
}

/** Whoever stops a request that is under way may have paid for it. */
async function concludeStopped(
  { notice }: SpeakOptions,
  work: PaidWork,
  kept: Kept | undefined,
): Promise<void> {
  if (kept !== undefined) await work.stopped(kept);
  notice(
    kept === undefined
      ? `foley: stopped before the audio came; to go on without paying twice, run it again with --idempotency-key ${work.key}`
      : `foley: stopped; what arrived is kept in ${kept.path}`,
  );
}

function whereItIs({ complete, id, path: file }: Kept): string {
  return complete && id !== undefined
    ? `The audio was paid for and is kept in ${file}; \`foley recover ${id}\` brings it back.`
    : `What arrived is kept in ${file}; asking again may cost again.`;
}

function spoolAbout({ plan }: SpeakOptions, work: PaidWork, answer: Facts | undefined): SpoolAbout {
  return {
    what: 'speech',
    extension: extensionOf(plan.format),
    output: plan.kind === 'file' ? path.resolve(plan.path) : null,
    requestId: answer?.requestId ?? null,
    creditsUsed: answer?.creditsUsed ?? null,
    operation: work.id,
    problem: null,
  };
}
