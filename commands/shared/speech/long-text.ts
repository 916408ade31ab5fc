import path from 'node:path';
import type { ApiClient } from '../../../src/api/client.ts';
import type { RequestSpec } from '../../../src/api/request.ts';
import { alignedRequest } from '../../../src/api/resources/aligned.ts';
import { speechJobRequest } from '../../../src/api/resources/jobs.ts';
import type { SpeechOptions } from '../../../src/api/resources/speech.ts';
import { speechRequest } from '../../../src/api/resources/speech.ts';
import { allVoices } from '../../../src/api/resources/voices.ts';
import type { JoinedMarks } from '../../../src/audio/encode/tags.ts';
import { TEXT_MAX_CHARACTERS } from '../../../src/contract/limits.ts';
import { randomHex } from '../../../src/durable/files.ts';
import { Failure } from '../../../src/errors/failure.ts';
import { partKeys } from '../../../src/paid/parts/speak-part.ts';
import type { LongTextPlan, TextLimit } from '../../../src/paid/parts/plan.ts';
import { textLimit } from '../../../src/paid/parts/plan.ts';
import { beginRecord } from '../../../src/paid/parts/record.ts';
import { speakLongText, totalsOf } from '../../../src/paid/parts/speak-long-text.ts';
import type { AudioStream } from '../../../src/paid/speakers/speak-stream.ts';
import { checkPronunciations } from '../../../src/speech/pronunciations.ts';
import type { ChosenVoice } from '../../../src/speech/voice-choice.ts';
import { findVoice } from '../../../src/speech/voice-choice.ts';
import { countCodePoints } from '../../../src/text/code-points.ts';
import type { ChapterStart, Pause, SpokenText } from '../../../src/text/document.ts';
import { splitParts } from '../../../src/text/parts.ts';
import { pauseOffsets, splitAtPauses } from '../../../src/text/pauses.ts';
import type { PausedParts } from '../../../src/text/pauses.ts';
import type { ServiceConnection } from '../../../src/cli/command.ts';
import { openJournal, openSpool, partConcurrency, longTexts } from '../journal.ts';
import type { Progress } from '../../../src/cli/render/progress.ts';
import { captionsRecord } from './captions.ts';
import type {
  DeliveredSpeech,
  DeliveryMode,
  SpeechBody,
  OpenedSpeech,
  SpeechTask,
} from './plan.ts';
import { jobOptions, speechOptions, textTooLong } from './plan.ts';

type PartsRequest = OpenedSpeech & { readonly parts: PausedParts };

/** Speaks each part of a text in its own request, and joins the audio (`--split`). */
export async function speakInParts(
  task: SpeechTask,
  request: PartsRequest,
  mode: DeliveryMode,
  { progress, stream }: { readonly progress: Progress; readonly stream: AudioStream },
): Promise<DeliveredSpeech> {
  const { context, flags, text } = task;
  const { parts } = request.parts;
  const count = parts.length;
  const { idempotencyKey } = speechOptions(task);
  const plan = planOf(task, request, mode, idempotencyKey);
  const { cover } = task.marks?.tags ?? {};
  const record = await beginRecord(plan, { text, cover }, await longTexts(context));
  const { journal } = await openJournal(context);
  progress.update(`speaking part 1 of ${count}`);
  try {
    const { path: file, verdict } = await speakLongText({
      system: context.system,
      signal: context.signal,
      client: request.connection.client,
      cache: flags.cache,
      idleTimeoutMs: context.globals.idleTimeout,
      requestId: flags.requestId,
      hasOwnKey: idempotencyKey?.madeByTool === false,
      concurrency: await partConcurrency(context),
      spool: () => openSpool(context),
      notice: (line) => context.io.notice(line),
      journal,
      record,
      reuse: request.reuse,
      output: request.output,
      marks: task.marks,
      stream,
      onAligned: async (spoken, speech) => request.captions?.prepare(spoken, speech),
      onProgress: (done) => {
        // The parts are joined in the order of the text.
        const percent = Math.floor((100 * (parts[done - 1]?.end ?? 0)) / (parts.at(-1)?.end ?? 1));
        progress.update(`speaking part ${Math.min(done + 1, count)} of ${count}, ${percent} %`);
      },
    });
    const { partial, reportsIgnored, ...response } = totalsOf(record);
    if (partial.length > 0) {
      context.io.warn(`foley: some of part ${partial.join(', ')} could not be spoken`);
    }
    return {
      spoken: { path: file, verdict, response },
      parts: count,
      reportsIgnored,
      isPartial: partial.length > 0,
    };
  } finally {
    await journal.close();
  }
}

function planOf(
  task: SpeechTask,
  { body, connection, output, parts: whole }: PartsRequest,
  mode: DeliveryMode,
  own: SpeechOptions['idempotencyKey'],
): LongTextPlan {
  const { captions, chosen, context, marks, plan, spoken } = task;
  const { parts, silences } = whole;
  const { text: _, ...order } = body;
  const temporary = output?.temporary;
  const keys = partKeys(
    parts.length,
    own?.madeByTool === false ? own.value : undefined,
    context.system.random,
  );
  const at = new Date(context.system.clock.now()).toISOString();
  return {
    id: `${at.replaceAll(/[-:]|\.\d+/g, '')}-${randomHex(context.system.random, 4)}`,
    at,
    target: connection.target,
    origin: connection.client.address.baseUrl.origin,
    via: mode.kind,
    surface: mode.kind === 'job' ? mode.api : chosen.name,
    delivery: temporary === undefined ? 'stream' : 'file',
    order,
    format: plan.format,
    output: output === undefined || temporary === undefined ? null : path.resolve(output.path),
    temporary: temporary === undefined ? null : path.resolve(temporary),
    ...(output?.changes === undefined ? {} : { changes: output.changes }),
    captions: captionsRecord(captions, context.cwd(), spoken),
    characters: parts.reduce((sum, part) => sum + countCodePoints(part.text), 0),
    parts: parts.map(({ end, start, voice }, index) => {
      const key = own === undefined ? null : (keys[index] ?? null);
      return { start, end, key, ...(voice === undefined ? {} : { voiceId: voice }) };
    }),
    ...(silences.every((ms) => ms === 0) ? {} : { silences }),
    ...(marks === undefined ? {} : recordedMarks(marks, whole, task)),
  };
}

function recordedMarks(
  { chapters, tags: { cover, ...texts } }: JoinedMarks,
  { parts }: PausedParts,
  { spoken, text }: SpeechTask,
) {
  const starts = chapters().length === 0 ? [] : (spoken?.chapters ?? []);
  const positions = pauseOffsets(text, startsAsPauses(starts));
  return {
    tags: { ...texts, cover: cover?.mimeType },
    chapters: starts.map(({ title }, index) => {
      const part = parts.findIndex(({ start }) => start >= (positions[index]?.end ?? 0));
      return { title, part: part === -1 ? parts.length : part };
    }),
  };
}

// A text is split where a chapter begins.
function startsAsPauses(chapters: readonly ChapterStart[]): readonly Pause[] {
  return chapters.map(({ at }) => ({ at, ms: 0 }));
}

/** Returns the request for each part of a text. `--dry-run` prints these requests. */
export function partRequests(
  task: SpeechTask,
  client: ApiClient,
  orders: readonly SpeechBody['body'][],
  mode: DeliveryMode,
): readonly RequestSpec[] {
  return orders.map((order) => {
    if (mode.kind === 'job') return speechJobRequest(client, order, jobOptions(task, mode.api));
    const options = speechOptions(task);
    return mode.kind === 'aligned'
      ? alignedRequest(client, order, options)
      : speechRequest(client, order, options);
  });
}

/**
 * Splits a text if it is too long for the model. If the text is split and foley knows the model, adds the model id to
 * the request body.
 * @throws Failure of kind `usage` if the text is too long and `--split never` is given
 */
export async function splitLongText(
  { characters, context: { signal }, flags, text }: SpeechTask,
  { client }: ServiceConnection,
  body: SpeechBody['body'],
): Promise<SpeechBody> {
  const limit = await limitFor(characters, client, body, signal);
  if (characters <= limit.characters) return { body, parts: undefined };
  if (flags.split === 'never') throw textTooLong(characters, limit.characters);
  const parts = splitParts(text, limit.characters);
  const silences = Array.from({ length: parts.length + 1 }, () => 0);
  return { body: withModel(body, limit), parts: { parts, silences } };
}

/**
 * Splits a text at its pauses, at its marks of voices, and where the chapters of a book begin. If the text between two marks
 * is too long for the model, splits it too.
 * @param isShort whether the whole text is short enough for every model
 * @throws Failure of kind `usage` for an unknown voice, and if a text between two marks is too long and `--split never` is
 * given
 */
export async function splitPausedText(
  { context: { signal }, flags, marks, spoken, text }: SpeechTask,
  { client }: ServiceConnection,
  body: SpeechBody['body'],
  isShort: boolean,
): Promise<SpeechBody> {
  const starts = marks === undefined || flags.split === 'never' ? [] : (spoken?.chapters ?? []);
  const voiced = await withVoiceIds(spoken, client, signal);
  const pauses = [...startsAsPauses(starts), ...voiced];
  const source = { text, pauses: pauses.toSorted((a, b) => a.at - b.at) };
  const whole = splitAtPauses(source, Number.MAX_SAFE_INTEGER);
  const longest = whole.parts.reduce((most, part) => Math.max(most, countCodePoints(part.text)), 0);
  // If the first part has a voice of its own, all parts have one.
  const voiceId = whole.parts[0]?.voice ?? body.voiceId;
  const ordered = { ...body, voiceId };
  if (isShort) return { body: ordered, parts: whole };
  const voiceIds = new Set(whole.parts.map(({ voice = voiceId }) => voice));
  const limits = await Promise.all(
    Array.from(voiceIds, (id) => limitFor(longest, client, { ...body, voiceId: id }, signal)),
  );
  const characters = Math.min(...limits.map((limit) => limit.characters));
  if (longest <= characters) return { body: ordered, parts: whole };
  if (flags.split === 'never') throw textTooLong(longest, characters);
  const [limit] = limits;
  const isOneVoice = voiceIds.size === 1 && limit !== undefined;
  const parts = splitAtPauses(source, characters);
  return { body: isOneVoice ? withModel(ordered, limit) : ordered, parts };
}

// Replaces the names of voices in the marks of a text by their ids.
async function withVoiceIds(
  spoken: SpokenText | undefined,
  client: ApiClient,
  signal: AbortSignal,
): Promise<readonly Pause[]> {
  const { pauses = [], pronunciations = [] } = spoken ?? {};
  const names = new Set(pauses.flatMap(({ voice }) => voice ?? []));
  if (names.size === 0) return pauses;
  const voices: ChosenVoice[] = [];
  for await (const listed of allVoices(client, { includePersonal: true, signal })) {
    voices.push(listed.voice);
  }
  const ids = new Map<string, string>();
  for (const name of names) {
    const id = findVoice('[voice]', name, voices);
    await checkPronunciations(client, id, pronunciations, signal);
    ids.set(name, id);
  }
  return pauses.map(({ voice, ...pause }) => {
    const id = ids.get(voice ?? '');
    return id === undefined ? pause : { ...pause, voice: id };
  });
}

async function limitFor(
  characters: number,
  client: ApiClient,
  body: SpeechBody['body'],
  signal: AbortSignal,
): Promise<TextLimit> {
  return textLimit(client, body, signal).catch((error: unknown): TextLimit => {
    signal.throwIfAborted();
    // If the capabilities are unknown, let the service decide about a text that some model may accept.
    if (!(error instanceof Failure) || characters > TEXT_MAX_CHARACTERS) throw error;
    return { characters: TEXT_MAX_CHARACTERS, modelId: undefined };
  });
}

function withModel(body: SpeechBody['body'], { modelId }: TextLimit): SpeechBody['body'] {
  return modelId === undefined ? body : { ...body, modelId };
}
