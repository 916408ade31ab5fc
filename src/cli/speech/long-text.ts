import path from 'node:path';
import type { ApiClient } from '../../api/client.ts';
import type { RequestSpec } from '../../api/request.ts';
import { alignedRequest } from '../../api/resources/aligned.ts';
import { speechJobRequest } from '../../api/resources/jobs.ts';
import { speechRequest } from '../../api/resources/speech.ts';
import type { SpeechOrder } from '../../api/resources/speech.ts';
import { randomHex } from '../../durable/files.ts';
import { partKeys } from '../../speech/long-text/parts.ts';
import type { LongTextPlan } from '../../speech/long-text/plan.ts';
import type { LongTextRecord } from '../../speech/long-text/record.ts';
import { beginRecord } from '../../speech/long-text/record.ts';
import type { LongTextOptions } from '../../speech/long-text/speak-long-text.ts';
import { speakLongText, totalsOf } from '../../speech/long-text/speak-long-text.ts';
import type { AudioStream } from '../../speech/speak.ts';
import { countCodePoints } from '../../text/code-points.ts';
import type { TextPiece } from '../../text/sentences.ts';
import type { Context } from '../command.ts';
import { partConcurrency, partSpool, recordOptions, openJournal } from '../journal.ts';
import type { Progress } from '../render/progress.ts';
import { captionsRecord } from './captions.ts';
import { jobOptions, speechOptions } from './order.ts';
import type { Task, Via, SpeechTask, Delivered } from './task.ts';

/** How the parts are asked for, and who hears of it. */
export interface PartsWay {
  readonly parts: readonly TextPiece[];
  readonly via: Via;
  /** Where the audio goes that goes into no file. */
  readonly stream: AudioStream;
  readonly progress: Progress;
}

/** Speaks a text in parts, and joins them (`--split`). */
export async function speakInParts(
  task: Task,
  request: SpeechTask,
  way: PartsWay,
): Promise<Delivered> {
  const { context } = task;
  const count = way.parts.length;
  const plan = planOf(task, request, way);
  const record = await beginRecord(plan, task.text, await recordOptions(context));
  const { journal } = await openJournal(context);
  way.progress.update(`speaking part 1 of ${count}`);
  try {
    const { path: file, verdict } = await speakLongText({
      ...(await partDeps(task, request)),
      journal,
      record,
      output: request.output,
      stream: way.stream,
      onAligned: async (text, speech) => request.captions?.prepare(text, speech),
      onProgress: (done) => {
        way.progress.update(`speaking part ${Math.min(done + 1, count)} of ${count}`);
      },
    });
    return deliveredOf(record, { path: file, verdict }, context);
  } finally {
    await journal.close();
  }
}

async function partDeps(
  task: Task,
  { connection }: SpeechTask,
): Promise<Omit<LongTextOptions, 'journal' | 'onProgress' | 'output' | 'record' | 'stream'>> {
  const { context, flags } = task;
  const { idempotencyKey } = speechOptions(task);
  return {
    ...context,
    client: connection.client,
    cache: flags.cache,
    idleTimeoutMs: context.globals.idleTimeout,
    requestId: flags.requestId,
    hasOwnKey: idempotencyKey?.madeByTool === false,
    concurrency: await partConcurrency(context),
    spool: () => partSpool(context),
    notice: (line) => context.io.notice(line),
  };
}

function planOf(
  task: Task,
  { body, connection, output }: SpeechTask,
  { parts, via }: PartsWay,
): LongTextPlan {
  const { chosen, context, plan } = task;
  const { text: _, ...order } = body;
  const { idempotencyKey: own } = speechOptions(task);
  const temporary = output?.temporary;
  const keys = partKeys(
    parts.length,
    own?.madeByTool === false ? own.value : undefined,
    context.random,
  );
  const at = new Date(context.clock.now()).toISOString();
  return {
    id: `${at.replaceAll(/[-:]|\.\d+/g, '')}-${randomHex(context, 4)}`,
    at,
    target: connection.target,
    origin: connection.client.address.baseUrl.origin,
    via: via.kind,
    surface: via.kind === 'job' ? via.api : chosen.name,
    delivery: temporary === undefined ? 'stream' : 'file',
    order,
    format: plan.format,
    output: output === undefined || temporary === undefined ? null : path.resolve(output.path),
    temporary: temporary === undefined ? null : path.resolve(temporary),
    captions: captionsRecord(task.captions, context.cwd()),
    characters: parts.reduce((sum, part) => sum + countCodePoints(part.text), 0),
    parts: parts.map(({ start, end }, index) => {
      return { start, end, key: own === undefined ? null : (keys[index] ?? null) };
    }),
  };
}

function deliveredOf(
  record: LongTextRecord,
  spoken: Pick<Delivered['spoken'], 'path' | 'verdict'>,
  { io }: Context,
): Delivered {
  const { partial, tellsIgnored, ...answer } = totalsOf(record);
  if (partial.length > 0) {
    io.warn(`foley: some of part ${partial.join(', ')} could not be spoken`);
  }
  return {
    spoken: { ...spoken, answer },
    parts: record.plan.parts.length,
    tellsIgnored,
    isPartial: partial.length > 0,
  };
}

/** The requests that would be sent for the parts (`--dry-run`). */
export function partRequests(
  task: Task,
  { client, body }: { readonly client: ApiClient; readonly body: SpeechOrder },
  { parts, via }: Pick<PartsWay, 'parts' | 'via'>,
): readonly RequestSpec[] {
  return parts.map(({ text }) => {
    const order = { ...body, text };
    if (via.kind === 'job') return speechJobRequest(client, order, jobOptions(task, via.api));
    const options = speechOptions(task);
    return via.kind === 'aligned'
      ? alignedRequest(client, order, options)
      : speechRequest(client, order, options);
  });
}
