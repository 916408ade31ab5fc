import path from 'node:path';
import type { ApiClient } from '../../src/api/client.ts';
import { createApiClient } from '../../src/api/client.ts';
import { idempotencyHeader } from '../../src/api/resources/speech.ts';
import type { Transport } from '../../src/api/transport/http.ts';
import type { SurfaceName } from '../../src/contract/speech-surfaces.ts';
import type { System } from '../../src/system/system.ts';
import type { IntentAbout } from '../../src/paid/intents.ts';
import { IntentJournal, listOpenIntents } from '../../src/paid/intents.ts';
import { createSpool } from '../../src/durable/spool.ts';
import type { Output } from '../../src/durable/output.ts';
import { pollPace } from '../../src/api/resources/jobs.ts';
import { speakAsJob } from '../../src/paid/speakers/speech-job.ts';
import { openPlanned, speak } from '../../src/paid/speakers/speak-stream.ts';
import type { OutputPlan, AudioStream } from '../../src/paid/speakers/speak-stream.ts';
import { leftovers } from '../../src/paid/recover/leftovers.ts';
import type { Recovered } from '../../src/paid/recover/recovered.ts';
import { recoverAll } from '../../src/paid/recover/recover.ts';
import { voiceId } from '../service/support/test-service.ts';
import { API_KEY } from './service-host.ts';

export const MODEL_ID = 'vendor-s21pro';
/** Credits for one character of that model. */
export const RATE = 1;

/** What one process of the client works with. */
export interface ClientSimulation extends System {
  /** Where journal and spool are. */
  readonly stateDir: string;
}

export interface SpeakCommand {
  readonly surface: SurfaceName;
  /** In one answer, or as a job (v3 and v1). */
  readonly via: Via;
  readonly text: string;
  /** Where the surface knows one; elsewhere its value is the id of the request. */
  readonly key: { readonly value: string; readonly madeByTool: boolean };
  readonly plan: OutputPlan;
  readonly stream: AudioStream;
  readonly transport: Transport;
  /** Told which operation of the journal a key belongs to, and which refunded one it renews. */
  readonly onIntent: (id: string, key: string, renews?: string) => void;
}

export type Via = 'sync' | 'job';

/** The reported cost of a run. */
interface Spent {
  readonly creditsUsed: number | undefined;
}

/** `foley tts`, from the moment at which its target and its text are known. */
export async function runSpeak(
  simulation: ClientSimulation,
  command: SpeakCommand,
): Promise<Spent> {
  const { plan, text, via } = command;
  const output = await openPlanned(simulation, plan, {
    text,
    noClobber: false,
    state: simulation.stateDir,
  });
  try {
    const journal = openJournal(simulation);
    try {
      const spoken = { output, journal: watched(journal, command.onIntent) };
      return await (via === 'job' ? runJob : runSync)(simulation, command, spoken);
    } finally {
      await journal.close();
    }
  } finally {
    await output?.abandon();
  }
}

interface Opened {
  readonly output: Output | undefined;
  readonly journal: IntentJournal;
}

async function runSync(
  simulation: ClientSimulation,
  command: SpeakCommand,
  opened: Opened,
): Promise<Spent> {
  const { key, plan, stream, surface, text, transport } = command;
  const folder = path.join(simulation.stateDir, 'spool');
  const { response } = await speak({
    ...opened,
    client: clientOver(simulation, transport),
    body: bodyOf(text),
    speech:
      idempotencyHeader(surface) === undefined
        ? { surface, requestId: key.value }
        : { surface, idempotencyKey: key },
    format: plan.format,
    stream,
    spool: async () => createSpool(simulation, folder),
    notice: () => undefined,
  });
  return response;
}

/** Maximum wait for a job. */
const LONGEST_WAIT_MS = 6_000_000;

async function runJob(
  simulation: ClientSimulation,
  { key, stream, surface, text, transport }: SpeakCommand,
  { journal, output }: Opened,
): Promise<Spent> {
  const { clock, random } = simulation;
  const client = clientOver(simulation, transport);
  const api = surface === 'v1' ? 'v1' : 'v3';
  const outcome = await speakAsJob({
    client,
    order: bodyOf(text),
    options: { api, idempotencyKey: key },
    place: output === undefined ? { stream } : { output },
    waits: true,
    polling: {
      clock,
      random,
      pace: pollPace(client, api),
      deadlineAt: clock.monotonic() + LONGEST_WAIT_MS,
    },
    journal,
    onCreated: async () => undefined,
    resume: () => 'go on',
    notice: () => undefined,
  });
  if (outcome.failure !== undefined) throw outcome.failure;
  return outcome.job;
}

function bodyOf(text: string) {
  return { text, voiceId: voiceId('Clara'), modelId: MODEL_ID, format: 'wav' } as const;
}

/** A client whose requests go over a transport. */
export function clientOver(
  { clock, random }: Pick<ClientSimulation, 'clock' | 'random'>,
  transport: Transport,
  maxRetries = 4,
): ApiClient {
  return createApiClient({
    address: {
      kind: 'hosted',
      baseUrl: new URL('http://127.0.0.1:4747'),
      realtimeUrl: new URL('ws://127.0.0.1:4747'),
      apiKey: API_KEY,
    },
    clock,
    random,
    version: '1.2.3',
    limits: { maxRetries },
    env: {},
    transport,
  });
}

/**
 * `foley recover`.
 * @param onRenewed called with the operation of a refunded key, and the operation and key that replace it
 */
export async function runRecover(
  simulation: ClientSimulation,
  transport: Transport,
  onRenewed: (before: string, id: string, key: string) => void,
): Promise<readonly Recovered[]> {
  const spool = createSpool(simulation, path.join(simulation.stateDir, 'spool'));
  const journal = watched(openJournal(simulation), (id, key, renews = '') =>
    onRenewed(renews, id, key),
  );
  const folder = path.join(simulation.stateDir, 'journal');
  const { open } = await listOpenIntents(simulation, folder);
  try {
    const all = leftovers(await spool.list(), open);
    const client = clientOver(simulation, transport);
    const { signal } = new AbortController();
    const { items, failures } = await recoverAll(all, {
      system: simulation,
      texts: { system: simulation, folder: path.join(simulation.stateDir, 'long-texts') },
      spool,
      journal,
      signal,
      notice: () => {},
      onWait: () => {},
      connect: () => Promise.resolve(client),
      mediaSource: notUsed,
      openCaptions: notUsed,
      concurrency: notUsed,
      buysLost: false,
    });
    if (failures.length === 0) await spool.prune().catch(() => []);
    return items;
  } finally {
    await journal.close();
  }
}

function notUsed(): never {
  throw new Error('only single requests and jobs are made here');
}

function openJournal(simulation: ClientSimulation): IntentJournal {
  const folder = path.join(simulation.stateDir, 'journal');
  return new IntentJournal(simulation, folder);
}

/** Stands for the key of a request that has none. */
export function keyless(requestId: string | null | undefined): string {
  return `request ${requestId}`;
}

function watched(journal: IntentJournal, onIntent: SpeakCommand['onIntent']): IntentJournal {
  const begin = journal.begin.bind(journal);
  return Object.assign(journal, {
    async begin(about: IntentAbout, body?: Uint8Array) {
      const intent = await begin(about, body);
      onIntent(intent.id, about.idempotencyKey ?? keyless(about.requestId), about.renews);
      return intent;
    },
  });
}
