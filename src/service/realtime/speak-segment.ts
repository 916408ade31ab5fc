import type { Output } from '../../files/output.ts';
import { amountsIn } from '../billing/ledger.ts';
import { engineMessageOf } from '../engine/speech-engine.ts';
import { speechFailureMessage } from '../service-error.ts';
import { StoreError } from '../store/store-error.ts';
import type { Problem, SessionEvent } from './machine/events.ts';
import type { RequestSpeakerOptions } from './request-speaker.ts';
import type { ReservedSegment } from './reserved-segment.ts';
import { SettledElsewhere } from './reserved-segment.ts';
import { chargedCredits, completeSegment, keepUntil } from './requests/request-records.ts';
import { segmentFile } from './requests/segment-file.ts';
import { ProviderTimeout, segmentAudio } from './segment-audio.ts';
import { isUnspeakable } from './spoken-text.ts';

export interface SegmentTask {
  readonly options: RequestSpeakerOptions;
  readonly reserved: ReservedSegment;
  /** No segment of the request had audio before. */
  readonly hasHead: boolean;
  readonly signal: AbortSignal;
}

/** How long stored audio is kept. */
const STORED_MS = 24 * 60 * 60 * 1_000;

/**
 * Speaks one segment: tells of its audio as fast as it is taken, stores it in reliable mode, and settles it.
 * Gives how it ended; undefined when its listener has gone.
 */
export async function speakSegment(task: SegmentTask): Promise<SessionEvent | undefined> {
  const { options, reserved, signal } = task;
  const { segmentId } = reserved.segment;
  const output = await openStore(task);
  try {
    const { bytes, frames } = await sendAudio(task, output);
    await output?.publish();
    settle(task, { bytes, frames });
    return { type: 'spoken', segmentId, outcome: outcomeOf(task, bytes) };
  } catch (error) {
    await output?.abandon();
    if (signal.aborted) return undefined;
    if (isUnspeakable(error)) {
      settleWithoutAudio(task);
      return { type: 'unspeakable', segmentId };
    }
    options.context.report({ type: 'failure', requestId: options.traceId, error });
    reserved.refund();
    return { type: 'failed', problem: problemOf(error) };
  }
}

/** Only what can be asked for again is stored (spec section 4.10). */
async function openStore({ options, reserved }: SegmentTask): Promise<Output | undefined> {
  const { request, context } = options;
  if (request.mode !== 'reliable') return undefined;
  return context.folder.create(request.id, segmentFile(reserved.number, request.format));
}

async function sendAudio(
  { options, reserved, hasHead, signal }: SegmentTask,
  output: Output | undefined,
): Promise<{ readonly bytes: number; readonly frames: number }> {
  const { context, plan, request, room, tell } = options;
  const { segmentId, text } = reserved.segment;
  const { encode, clock, speechQueue } = context;
  const { accountId: account } = request;
  const sound = {
    account,
    plan,
    text,
    number: reserved.number,
    encode,
    clock,
    speechQueue,
  };
  let [bytes, frames] = [0, 0];
  for await (const piece of segmentAudio({ ...sound, hasHead, signal })) {
    await room();
    signal.throwIfAborted();
    reserved.commit();
    await output?.write(piece);
    signal.throwIfAborted();
    tell({ type: 'audio', segmentId, bytes: piece });
    bytes += piece.length;
    frames += 1;
  }
  // A line that broke under the last of it did not take it.
  await room();
  signal.throwIfAborted();
  return { bytes, frames };
}

function settle(
  { options, reserved, signal }: SegmentTask,
  audio: { readonly bytes: number; readonly frames: number },
): void {
  signal.throwIfAborted();
  const { context, request } = options;
  const { segmentId } = reserved.segment;
  const { store, clock } = context;
  reserved.complete(
    (work) => store.write(work),
    (db) => {
      completeSegment(db, request.id, { segmentId, ...audio });
      if (request.mode === 'reliable') keepUntil(db, request.id, clock.now() + STORED_MS);
    },
  );
}

/** It is over, and costs nothing. */
function settleWithoutAudio({ options, reserved }: SegmentTask): void {
  const { context, request } = options;
  const { segmentId } = reserved.segment;
  context.store.write((db) => completeSegment(db, request.id, { segmentId, bytes: 0, frames: 0 }));
  reserved.refund();
}

function outcomeOf({ options, reserved }: SegmentTask, audioBytes: number) {
  const { context, request } = options;
  return context.store.read((db) => ({
    units: reserved.segment.characters,
    audioBytes,
    quotaRemaining: amountsIn(db, request.accountId, 'available').quota,
    creditsUsed: chargedCredits(db, request.id),
  }));
}

function problemOf(error: unknown): Problem {
  if (error instanceof SettledElsewhere || error instanceof StoreError) {
    return { code: 'billing_failed', message: 'The charge could not be settled', stage: 'billing' };
  }
  if (error instanceof ProviderTimeout) {
    return { code: 'provider_timeout', message: 'The engine took too long', stage: 'generation' };
  }
  const message = speechFailureMessage(engineMessageOf(error));
  return { code: 'generation_failed', message, stage: 'generation' };
}
