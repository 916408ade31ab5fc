import type { ApiClient } from '../../src/api/client.ts';
import { readCreateResponse } from '../../src/api/client.ts';
import { reviseFailure } from '../../src/api/failures.ts';
import { jsonBody } from '../../src/api/request.ts';
import type { RequestSpec } from '../../src/api/request.ts';
import { sendSpeechJob } from '../../src/api/resources/jobs.ts';
import { allLipSync, sendMediaJob } from '../../src/api/resources/media.ts';
import type { MediaJobKind } from '../../src/api/resources/models.ts';
import { MEDIA_JOB_KINDS } from '../../src/api/resources/models.ts';
import { allItems, listVoicesV1 } from '../../src/api/resources/voices.ts';
import type { UnknownRecord } from '../../src/api/response.ts';
import { firstText, isRecord } from '../../src/api/response.ts';
import { chargeOf } from '../../src/contract/endpoint-lookup.ts';
import { PAGE_SIZE_MAX } from '../../src/contract/limits.ts';
import type { IntentAbout, OpenIntent, SettledState } from '../../src/durable/intents.ts';
import { Failure } from '../../src/errors/failure.ts';
import { isPayer } from '../../src/speech/billed-request.ts';
import { refuseOtherService } from '../../src/speech/jobs/recover-job.ts';
import { isDecided, recoverSpeech } from '../../src/speech/recover-speech.ts';
import type { SpeechRecoveryDeps } from '../../src/speech/recover-speech.ts';
import type { Recovered, RecoverDeps } from '../../src/speech/recover.ts';

interface ResolveDeps extends Pick<RecoverDeps, 'recoverJob'>, Omit<SpeechRecoveryDeps, 'client'> {
  readonly connect: () => Promise<ApiClient>;
}

/**
 * Asks the service what became of a request whose answer never came, and settles it (docs/billing.md). Where the
 * service knows keys the request is sent again under its own, which is billed once however often it is sent; else
 * a list of the service tells, where exactly one thing in it fits.
 * @returns undefined where nothing can tell
 * @throws Failure; the operation stays open then. Or the reason of the signal
 */
export async function resolveRequest(
  intent: OpenIntent,
  deps: ResolveDeps,
): Promise<Recovered | undefined> {
  const { about } = intent;
  const what = about === undefined ? undefined : createdBy(about);
  if (about === undefined || what === undefined) return undefined;
  const { idempotencyKey: key } = about;
  const bytes = await deps.journal.bodyOf(intent);
  const body = bytes === undefined ? undefined : fieldsOf(bytes);
  if (body === undefined && (key !== null || what === 'voice')) return undefined;
  // Of what was answered only stored audio is sent a second time.
  if (intent.state === 'accepted' && body?.['cache'] !== true) return undefined;
  const client = await deps.connect();
  refuseOtherService(about, `request ${intent.id}`, client);
  if (key === null) return inList(intent, what, body, { ...deps, client });
  if (bytes === undefined || body === undefined) return undefined;
  refuseOtherPayer(intent.id, about, client);
  const { signal } = deps;
  const request = {
    ...againUnder(key, about, what, client),
    body: { ...jsonBody({}), bytes },
    signal,
  };
  try {
    return what === 'speech'
      ? await recoverSpeech({ body, intent, request }, { ...deps, client })
      : await asAsked(intent, what, request, { ...deps, client });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return conclude(error, what, intent, deps);
  }
}

/** What a refusal under the key tells about the interrupted request. @throws Failure where it tells nothing */
async function conclude(
  error: Failure,
  what: Created,
  intent: OpenIntent,
  { journal }: ResolveDeps,
): Promise<Recovered> {
  const { code, message: problem } = error;
  const settled = async (state: SettledState, changes: Pick<Recovered, 'outcome' | 'problem'>) => {
    await journal.resume(intent).markAs(state, { problem: error.message });
    return { ...told(intent), ...changes };
  };
  if (code === 'ERR_REQUEST_PREVIOUSLY_REFUNDED') {
    return settled('failed', { outcome: 'refunded', problem });
  }
  // The very same request cannot conflict with itself: another one has the key.
  if (isDecided(error)) return settled('rejected', { outcome: 'rejected', problem });
  if (what === 'speech' && code === 'ERR_REQUEST_ALREADY_COMPLETED') {
    return settled('lost', { outcome: 'lost', problem });
  }
  // Then the failure itself says where the audio is, or what keeps it from its place.
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

/**
 * The request as it was sent. A key of the tool may be replaced when the request under it was refunded; a job that
 * was refunded has failed.
 */
function againUnder(
  key: string,
  about: IntentAbout,
  what: Created,
  { address }: ApiClient,
): RequestSpec {
  const [method = 'POST', path = '/'] = about.endpoint.split(' ');
  const target = path.slice(address.baseUrl.pathname.replace(/\/+$/, '').length);
  const { recognizedBy: sentAs = 'Idempotency-Key' } = chargeOf(method, target);
  return {
    method,
    target,
    billed: true,
    retry: 'keyed',
    key: { value: key, madeByTool: what === 'speech' && about.isOwnKey !== true, sentAs },
    requestId: about.requestId ?? undefined,
  };
}

interface AskDeps extends ResolveDeps {
  readonly client: ApiClient;
}

async function asAsked(
  intent: OpenIntent,
  what: Exclude<Created, 'speech'>,
  request: RequestSpec,
  deps: AskDeps,
): Promise<Recovered | undefined> {
  const { client } = deps;
  if (what === 'voice' || what === 'design') {
    const answer = await readCreateResponse(await client.send(request), [what, 'data']);
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
  body: UnknownRecord | undefined,
  deps: AskDeps,
): Promise<Recovered | undefined> {
  const { client, signal } = deps;
  if (what === 'lipsync') {
    const jobs = await all(allLipSync(client, {}, signal));
    const [job, ...others] = jobs.filter(({ data }) => isFromThen(data['created_at'], intent));
    return job === undefined || others.length > 0 ? undefined : goOn(intent, job, deps);
  }
  const name = firstText(body?.['name']);
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
  await journal.resume(intent).markAs('published');
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
