import type { ApiClient } from '../../api/client.ts';
import { readCreateResponse } from '../../api/client.ts';
import { reviseFailure } from '../../api/failures.ts';
import type { RequestSpec } from '../../api/request.ts';
import { jsonBody } from '../../api/request.ts';
import { sendSpeechJob } from '../../api/resources/jobs.ts';
import { allLipSync, sendMediaJob } from '../../api/resources/media.ts';
import type { MediaJobKind } from '../../api/resources/models.ts';
import { MEDIA_JOB_KINDS } from '../../api/resources/models.ts';
import { getRefund, sendSpeech } from '../../api/resources/speech.ts';
import { allItems, listVoicesV1 } from '../../api/resources/voices.ts';
import type { UnknownRecord } from '../../api/response.ts';
import { firstRecord, firstText, isRecord, parseJson } from '../../api/response.ts';
import { formatNamed } from '../../audio/formats.ts';
import { chargeOf } from '../../contract/endpoint-lookup.ts';
import { PAGE_SIZE_MAX } from '../../contract/limits.ts';
import { removeTemporary } from '../../durable/files.ts';
import { Failure } from '../../errors/failure.ts';
import { isPayer } from '../billed-request.ts';
import { outcomeOfRepetition } from '../decide.ts';
import type { IntentAbout, OpenIntent } from '../intents.ts';
import { DISCARD, speak } from '../speakers/speak-stream.ts';
import { recoverJob } from './recover-job.ts';
import type { Recovered, RecoverDeps } from './recovered.ts';
import { connectTo, detailsOf, openRecorded, requestDetails } from './recovered.ts';

/**
 * Finds out and records the outcome of a request that got no response (docs/billing.md). A request with an idempotency
 * key is sent again; the key prevents a second charge. Without a key, searches the lists of the service for the
 * created voice or lip sync job. Returns undefined if the outcome stays unknown.
 * @throws Failure; the outcome can then be looked up again later. On abort, the abort reason of the signal
 */
export async function repeatRequest(
  intent: OpenIntent,
  deps: RecoverDeps,
): Promise<Recovered | undefined> {
  const { about, id, state } = intent;
  const what = about === undefined ? undefined : createdBy(about);
  if (about === undefined || what === undefined) return undefined;
  deps.onWait(`looking up request ${id}`);
  const { idempotencyKey: key } = about;
  const bytes = await deps.journal.bodyOf(intent);
  // The embedded service refunds the requests of a process that has ended. A request with a stored body is sent again
  // instead, unless its response had begun.
  const isRepeatable = state !== 'accepted' && bytes !== undefined;
  if (about.target === 'embedded' && what === 'speech' && !isRepeatable) {
    const refunded = await findRefund(intent, about, deps);
    if (refunded !== undefined) return refunded;
  }
  const body = bytes === undefined ? undefined : firstRecord(parseJson(bytes.toString('utf8')));
  if (body === undefined && (key !== null || what === 'voice')) return undefined;
  // After a response began, only stored audio is sent again.
  if (state === 'accepted' && body?.['cache'] !== true) return undefined;
  const client = await connectTo(about, `request ${id}`, deps);
  if (key === null) return findCreated(intent, what, body, client, deps);
  if (bytes === undefined || body === undefined) return undefined;
  requireSamePayer(id, about, client);
  const request = { ...repetition(key, about, what, client), signal: deps.signal };
  const repeated = { ...request, body: { ...jsonBody({}), bytes } };
  try {
    return what === 'speech'
      ? await repeatSpeech(intent, about, repeated, body, client, deps)
      : await repeatCreate(intent, what, repeated, client, deps);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return recordOutcome(error, what, intent, deps);
  }
}

async function findRefund(
  intent: OpenIntent,
  about: IntentAbout,
  deps: RecoverDeps,
): Promise<Recovered | undefined> {
  const id = about.idempotencyKey ?? intent.facts.requestId;
  if (id === undefined) return undefined;
  const client = await connectTo(about, `request ${intent.id}`, deps);
  const problem = await getRefund(client, id, deps.signal);
  if (problem === undefined) return undefined;
  await deps.journal.settle(intent, 'refunded', { problem });
  return { ...requestDetails(intent), creditsUsed: 0, outcome: 'refunded', problem };
}

async function recordOutcome(
  error: Failure,
  what: Created,
  intent: OpenIntent,
  { journal }: RecoverDeps,
): Promise<Recovered> {
  const outcome = outcomeOfRepetition(error, what === 'speech');
  if (outcome !== undefined) {
    const problem = error.message;
    await journal.resume(intent).markAs(outcome, { problem });
    return { ...requestDetails(intent), outcome, problem };
  }
  // The failure already names the audio, or the problem with the output file.
  const isOfOutput = ['exists', 'output', 'state'].includes(error.exit);
  if (isOfOutput || (what === 'speech' && error.billed === 'yes')) throw error;
  const hint = `Run \`foley recover\` again later, or the same command with --idempotency-key ${intent.about?.idempotencyKey}, which is not billed twice.`;
  throw reviseFailure(error, { hint });
}

type Created = 'speech' | 'speechJob' | 'voice' | 'design' | MediaJobKind;

function createdBy({ endpoint, what }: IntentAbout): Created | undefined {
  if (what === 'voice' || what === 'design') return what;
  if (endpoint.endsWith('/speech/tts/jobs')) return 'speechJob';
  if (what === 'speech') return what;
  return MEDIA_JOB_KINDS.find((kind) => kind === what);
}

// Repeating the request under another account is billed.
function requireSamePayer(id: string, about: IntentAbout, { address }: ApiClient): void {
  if (address.kind === 'embedded' || isPayer(about, address.apiKey)) return;
  throw new Failure(`request ${id} was sent with another API key`, {
    code: 'usage',
    exit: 'usage',
    hint: `Use --account to select the account that sent the request, or run \`foley recover --forget ${id}\`.`,
    billed: 'unknown',
  });
}

// Refunded speech may be sent again with a new idempotency key, unless the user chose the key. A refunded job is not
// sent again.
function repetition(
  key: string,
  about: IntentAbout,
  what: Created,
  { address }: ApiClient,
): RequestSpec {
  const [method = 'POST', path = '/'] = about.endpoint.split(' ');
  const target = path.slice(address.baseUrl.pathname.replace(/\/+$/, '').length);
  const { idempotencyHeader: sentAs = 'Idempotency-Key' } = chargeOf(method, target);
  return {
    method,
    target,
    billed: true,
    retry: 'keyed',
    key: { value: key, madeByTool: what === 'speech' && about.isOwnKey !== true, sentAs },
    requestId: about.requestId ?? undefined,
  };
}

async function repeatSpeech(
  intent: OpenIntent,
  about: IntentAbout,
  request: RequestSpec,
  { cache, format: name, text }: UnknownRecord,
  client: ApiClient,
  deps: RecoverDeps,
): Promise<Recovered> {
  const { journal, notice, signal, spool } = deps;
  const { id } = intent;
  const format = (typeof name === 'string' ? formatNamed(name) : undefined) ?? 'mp3';
  const output = await openRecorded(id, about, format, deps);
  let key = about.idempotencyKey;
  try {
    const { response, path = output.path } = await speak({
      client,
      // `request` contains the body; the text here limits the length of the audio.
      body: { text: typeof text === 'string' ? text : '', voiceId: '' },
      speech: {
        idempotencyKey: request.key,
        requestId: request.requestId,
        signal,
        onNewKey: async (next) => void (key = next),
      },
      transport: {
        request,
        send: (sent) => sendSpeech(client, sent, cache === true).catch(asUndecided),
      },
      format,
      output,
      stream: DISCARD,
      journal,
      resumes: journal.resume(intent),
      spool: () => Promise.resolve(spool),
      notice,
    });
    await removeTemporary(deps.system, about.temporary);
    const details = detailsOf({}, response);
    return { ...details, id, outcome: 'recovered', output: path, idempotencyKey: key };
  } finally {
    // No effect after publication.
    await output.abandon();
  }
}

// Although nothing was billed now, the interrupted request may have been.
function asUndecided(error: unknown): never {
  const isUnknown = error instanceof Failure && outcomeOfRepetition(error, true) === undefined;
  if (!isUnknown || error.billed !== 'no') throw error;
  throw reviseFailure(error, { billed: 'unknown' });
}

async function repeatCreate(
  intent: OpenIntent,
  what: Exclude<Created, 'speech'>,
  request: RequestSpec,
  client: ApiClient,
  deps: RecoverDeps,
): Promise<Recovered | undefined> {
  if (what === 'voice' || what === 'design') {
    const response = await client.send(request);
    const { created, made } = await readCreateResponse(response, [what, 'data']);
    return recordCreated(intent, firstText(made[`${what}Id`], made['id']), created, deps);
  }
  const job =
    what === 'speechJob'
      ? await sendSpeechJob(
          client,
          request.target.toString().includes('/v1/') ? 'v1' : 'v3',
          request,
        )
      : await sendMediaJob(client, what, request);
  return recoverAsJob(intent, job, deps);
}

async function findCreated(
  intent: OpenIntent,
  what: Created,
  body: UnknownRecord | undefined,
  client: ApiClient,
  deps: RecoverDeps,
): Promise<Recovered | undefined> {
  const { signal } = deps;
  if (what === 'lipsync') {
    const jobs = await all(allLipSync(client, {}, signal));
    const [job, ...others] = jobs.filter(({ data }) => isCreatedBy(data['created_at'], intent));
    return job === undefined || others.length > 0 ? undefined : recoverAsJob(intent, job, deps);
  }
  const name = firstText(body?.['name']);
  if (what !== 'voice' || name === undefined) return undefined;
  const query = { modelType: 'personal', search: name, pageSize: PAGE_SIZE_MAX, signal } as const;
  const voices = await all(allItems((page) => listVoicesV1(client, { ...query, page })));
  const [voice, ...others] = voices.filter(({ item, raw }) => {
    const fields = isRecord(raw) ? raw : {};
    return item.name === name && isCreatedBy(fields['created_at'] ?? fields['createdAt'], intent);
  });
  if (voice === undefined || others.length > 0) return undefined;
  return recordCreated(intent, voice.item.voiceId, {}, deps);
}

function isCreatedBy(createdAt: unknown, { at }: OpenIntent): boolean {
  const made = typeof createdAt === 'string' ? Date.parse(createdAt) : Number.NaN;
  // Some services report whole seconds.
  const sentAt = Math.floor(Date.parse(at) / 1000) * 1000;
  return made >= sentAt && made <= sentAt + LONGEST_CREATE_MS;
}

// From the request that creates a voice or job to its response, including the upload of files.
const LONGEST_CREATE_MS = 10 * 60 * 1000;

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

interface Accepted {
  readonly requestId: string;
  readonly creditsUsed: number | undefined;
}

async function recoverAsJob(
  intent: OpenIntent,
  { creditsUsed, id, requestId }: Accepted & { readonly id: string },
  deps: RecoverDeps,
): Promise<Recovered> {
  const known = { jobId: id, requestId, creditsUsed: creditsUsed ?? intent.facts.creditsUsed };
  await deps.journal.resume(intent).advance('accepted', known);
  const facts = { ...intent.facts, ...known };
  return recoverJob({ ...intent, state: 'accepted', facts }, id, deps);
}

async function recordCreated(
  intent: OpenIntent,
  id: string | undefined,
  { creditsUsed, requestId }: Partial<Accepted>,
  { journal }: RecoverDeps,
): Promise<Recovered | undefined> {
  if (id === undefined) return undefined;
  await journal.resume(intent).markAs('published');
  const details = requestDetails(intent);
  return {
    ...details,
    outcome: 'recovered',
    madeId: id,
    creditsUsed: creditsUsed ?? details.creditsUsed,
    requestId: requestId ?? intent.facts.requestId ?? null,
  };
}
