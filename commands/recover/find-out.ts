import type { ApiClient } from '../../src/api/client.ts';
import { reviseFailure } from '../../src/api/failures.ts';
import { allItems } from '../../src/api/pages.ts';
import { jsonBody } from '../../src/api/request.ts';
import type { RequestSpec } from '../../src/api/request.ts';
import { readCreateAnswer, firstText } from '../../src/api/resources/create.ts';
import { sendSpeechJob } from '../../src/api/resources/jobs.ts';
import { allLipSync, sendMediaJob } from '../../src/api/resources/media.ts';
import type { MediaJobKind } from '../../src/api/resources/models.ts';
import { MEDIA_JOB_KINDS } from '../../src/api/resources/models.ts';
import { listVoicesV1 } from '../../src/api/resources/voices.ts';
import type { UnknownRecord } from '../../src/api/response.ts';
import { isRecord } from '../../src/api/response.ts';
import { chargeOf } from '../../src/contract/charges.ts';
import { PAGE_SIZE_MAX } from '../../src/contract/limits.ts';
import type { IntentAbout, IntentJournal, OpenIntent } from '../../src/durable/intents.ts';
import { Failure } from '../../src/errors/failure.ts';
import { isPayer } from '../../src/speech/billed-request.ts';
import { refuseOtherService } from '../../src/speech/jobs/recover-job.ts';
import type { Recovered, RecoverDeps } from '../../src/speech/recover.ts';

interface FindOutDeps extends Pick<RecoverDeps, 'recoverJob'> {
  readonly connect: () => Promise<ApiClient>;
  readonly journal: IntentJournal;
  readonly signal: AbortSignal;
}

/**
 * Asks the service what became of the create of a job, a voice or a design whose answer never came, and
 * settles it (docs/billing.md). Where the service knows keys it is asked for again under its own, which is billed
 * once however often it is asked for; else a list of the service tells, where exactly one thing in it fits.
 * @returns undefined where nothing can tell
 * @throws Failure; the operation stays open then. Or the reason of the signal
 */
export async function findOut(
  intent: OpenIntent,
  deps: FindOutDeps,
): Promise<Recovered | undefined> {
  const { about } = intent;
  const what = about === undefined ? undefined : createdBy(about);
  if (about === undefined || what === undefined) return undefined;
  const { idempotencyKey: key } = about;
  const body = whole(await deps.journal.bodyOf(intent));
  if (body === undefined && (key !== null || what === 'voice')) return undefined;
  const client = await deps.connect();
  refuseOtherService(about, `request ${intent.id}`, client);
  if (key === null) return inList(intent, what, body, { ...deps, client });
  if (body === undefined) return undefined;
  refuseOtherPayer(intent.id, about, client);
  const { signal } = deps;
  const request = {
    ...againUnder(key, about, client),
    body: { ...jsonBody({}), bytes: body },
    signal,
  };
  try {
    return await asAsked(intent, what, request, { ...deps, client });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // Another request has the key: this one came to nothing, or was never taken.
    if (error.code === 'ERR_REQUEST_ID_CONFLICT') return undefined;
    if (error.code !== 'ERR_REQUEST_PREVIOUSLY_REFUNDED') {
      const hint = `Run \`foley recover\` again later, or the same command with --idempotency-key ${key}, which is not billed twice.`;
      throw reviseFailure(error, { hint });
    }
    await deps.journal.resume(intent).settle('failed', { problem: error.message });
    return { ...told(intent), outcome: 'refunded', problem: error.message };
  }
}

type Created = 'speechJob' | 'voice' | 'design' | MediaJobKind;

function createdBy({ endpoint, what }: IntentAbout): Created | undefined {
  if (what === 'voice' || what === 'design') return what;
  if (endpoint.endsWith('/speech/tts/jobs')) return 'speechJob';
  return MEDIA_JOB_KINDS.find((kind) => kind === what);
}

/** Another account does not know the key, and would be billed. */
function refuseOtherPayer(id: string, about: IntentAbout, { address }: ApiClient): void {
  if (address.kind === 'embedded' || isPayer(about, address.apiKey)) return;
  throw new Failure(`request ${id} was sent with another API key than the one that is used now`, {
    code: 'usage',
    exit: 'usage',
    hint: `Use the account that sent it (\`--account\`), or run \`foley recover --forget ${id}\`.`,
    billed: 'unknown',
  });
}

/** The request as it was sent; under a key of its own that is not replaced when it was refunded. */
function againUnder(key: string, about: IntentAbout, { address }: ApiClient): RequestSpec {
  const [method = 'POST', path = '/'] = about.endpoint.split(' ');
  const target = path.slice(address.baseUrl.pathname.replace(/\/+$/, '').length);
  const { recognizedBy: sentAs = 'Idempotency-Key' } = chargeOf(method, target);
  return {
    method,
    target,
    billed: true,
    retry: 'keyed',
    key: { value: key, madeByTool: false, sentAs },
    requestId: about.requestId ?? undefined,
  };
}

interface AskDeps extends FindOutDeps {
  readonly client: ApiClient;
}

async function asAsked(
  intent: OpenIntent,
  what: Created,
  request: RequestSpec,
  deps: AskDeps,
): Promise<Recovered | undefined> {
  const { client } = deps;
  if (what === 'voice' || what === 'design') {
    const answer = await readCreateAnswer(await client.send(request), [what, 'data']);
    const id = firstText(answer.made[`${what}Id`], answer.made['id']);
    return settleMade(intent, id, answer, deps);
  }
  const job =
    what === 'speechJob'
      ? await sendSpeechJob(
          client,
          request.target.toString().includes('/v1/') ? 'v1' : 'v3',
          request,
        )
      : await sendMediaJob(client, what, request);
  return goOn(intent, job, deps);
}

/** What was asked for without a key, where exactly one thing was made then. */
async function inList(
  intent: OpenIntent,
  what: Created,
  body: Buffer | undefined,
  deps: AskDeps,
): Promise<Recovered | undefined> {
  const { client, signal } = deps;
  if (what === 'lipsync') {
    const jobs = await all(allLipSync(client, {}, signal));
    const [job, ...others] = jobs.filter(({ data }) => isFromThen(data['created_at'], intent));
    return job === undefined || others.length > 0 ? undefined : goOn(intent, job, deps);
  }
  const name = nameIn(body);
  if (what !== 'voice' || name === undefined) return undefined;
  const query = { modelType: 'personal', search: name, pageSize: PAGE_SIZE_MAX, signal } as const;
  const voices = await all(allItems((page) => listVoicesV1(client, { ...query, page })));
  const [voice, ...others] = voices.filter(({ item, raw }) => {
    const fields = isRecord(raw) ? raw : {};
    return item.name === name && isFromThen(fields['created_at'] ?? fields['createdAt'], intent);
  });
  if (voice === undefined || others.length > 0) return undefined;
  return settleMade(intent, voice.item.voiceId, {}, deps);
}

/** Whether something was made after it was asked for, and not so late that it was asked for again. */
function isFromThen(createdAt: unknown, { at }: OpenIntent): boolean {
  const made = typeof createdAt === 'string' ? Date.parse(createdAt) : Number.NaN;
  // Some services tell whole seconds.
  const asked = Math.floor(Date.parse(at) / 1000) * 1000;
  return made >= asked && made <= asked + LONGEST_CREATE_MS;
}

/** A create imports or uploads what it is given before it is answered. */
const LONGEST_CREATE_MS = 10 * 60 * 1000;

function nameIn(body: Buffer | undefined): string | undefined {
  return body === undefined ? undefined : firstText(fieldsOf(body)?.['name']);
}

/** One that was being written when the command was killed is none; nothing had been sent then. */
function whole(body: Buffer | undefined): Buffer | undefined {
  return body === undefined || fieldsOf(body) === undefined ? undefined : body;
}

function fieldsOf(body: Buffer): UnknownRecord | undefined {
  try {
    const fields: unknown = JSON.parse(body.toString('utf8'));
    return isRecord(fields) ? fields : undefined;
  } catch {
    return undefined;
  }
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

interface Accepted {
  readonly requestId: string;
  readonly creditsUsed: number | undefined;
}

/** From here on it is a job as any other that was left. */
async function goOn(
  intent: OpenIntent,
  { creditsUsed, id, requestId }: Accepted & { readonly id: string },
  { journal, recoverJob }: AskDeps,
): Promise<Recovered> {
  const known = { jobId: id, requestId, ...(creditsUsed === undefined ? {} : { creditsUsed }) };
  await journal.resume(intent).advance('accepted', known);
  const facts = { ...intent.facts, ...known };
  return recoverJob({ ...intent, state: 'accepted', facts }, id);
}

async function settleMade(
  intent: OpenIntent,
  id: string | undefined,
  { creditsUsed, requestId }: Partial<Accepted>,
  { journal }: AskDeps,
): Promise<Recovered | undefined> {
  if (id === undefined) return undefined;
  await journal.resume(intent).settle('published');
  return {
    ...told(intent),
    outcome: 'recovered',
    madeId: id,
    creditsUsed: creditsUsed ?? intent.facts.creditsUsed ?? null,
    requestId: requestId ?? intent.facts.requestId ?? null,
  };
}

function told({ about, facts, id }: OpenIntent) {
  return {
    id,
    output: null,
    creditsUsed: facts.creditsUsed ?? null,
    requestId: facts.requestId ?? about?.requestId ?? null,
    jobId: null,
    idempotencyKey: about?.idempotencyKey ?? null,
    problem: null,
  };
}
