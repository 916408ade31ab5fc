import { expect } from 'vitest';
import type { Ask, Order } from '../../binary/support/orders.ts';
import type { Wire, WholeAnswer } from './wire.ts';
import { get, insist, orderOnWire, poll } from './wire.ts';

/** The result of an order under one key, as its client saw it. */
export interface Told {
  readonly order: Order;
  /** The key of the last request. */
  readonly key: string | undefined;
  readonly ending:
    /** The audio was complete, or the job was accepted. */
    | 'delivered'
    /** It was charged, and the audio was lost with the connection. */
    | 'completed'
    /** Another client used the key for another order. */
    | 'conflict'
    /** It had no key, and no response arrived. */
    | 'unknown';
  /** The cost that the service returned. */
  readonly credits: number | undefined;
  readonly jobId: string | undefined;
  /** The audio, if it was fetched as a file. */
  readonly file: Buffer | undefined;
}

/** Sends the orders with several clients at once, and returns the results. */
export async function askAll(asks: readonly Ask[], wire: Wire, clients: number): Promise<Told[]> {
  const told: Told[] = [];
  const left = asks.values();
  const client = async (): Promise<void> => {
    for (const ask of left) {
      if (ask.kind === 'look') await look(wire, ask.path, ask.account);
      else told.push(await askFor(wire, ask));
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return told;
}

async function look(wire: Wire, path: string, account: number): Promise<void> {
  const { status } = await insist(wire, get(path), account);
  expect([path, status]).toEqual([path, path.endsWith('/another-one') ? 404 : 200]);
}

/** Sends an order under the same key until its result is known, and under another key only after a refund. */
async function askFor(wire: Wire, order: Order): Promise<Told> {
  for (let generation = 0; ; generation += 1) {
    const key = generation === 0 ? order.key : `${order.key}~${generation}`;
    const told = await askUnder(wire, order, key);
    if (told !== 'refunded') return told;
  }
}

async function askUnder(
  wire: Wire,
  order: Order,
  key: string | undefined,
): Promise<Told | 'refunded'> {
  const sent = orderOnWire(order, key);
  const nothing = { order, key, credits: undefined, jobId: undefined, file: undefined };
  const answer =
    key === undefined ? await wire(sent, order.account) : await insist(wire, sent, order.account);
  if (answer === 'broken') return { ...nothing, ending: 'unknown' };
  if (answer.status !== 409) return { ...nothing, ...(await delivered(wire, order, answer)) };
  switch (answer.json()['code']) {
    case 'ERR_REQUEST_PREVIOUSLY_REFUNDED':
      return 'refunded';
    case 'ERR_REQUEST_ALREADY_COMPLETED':
      return { ...nothing, ending: 'completed' };
    case 'ERR_REQUEST_ID_CONFLICT':
      return { ...nothing, ending: 'conflict' };
    default:
      throw new Error(`${sent.path} was refused with ${answer.bytes.toString()}`);
  }
}

async function delivered(wire: Wire, order: Order, answer: WholeAnswer) {
  const { account, surface } = order;
  const isJob = surface.startsWith('job');
  if (answer.status !== (isJob ? 202 : 200)) {
    throw new Error(`${surface} was answered with ${answer.status} ${answer.bytes.toString()}`);
  }
  const ending = 'delivered' as const;
  if (surface === 'cache') {
    const { audio_url: address, credits_used: credits } = answer.json();
    const { pathname, search } = new URL(String(address));
    const { bytes: file } = await insist(wire, get(pathname + search), account);
    return { ending, credits: Number(credits), file };
  }
  if (!isJob) return { ending, credits: Number(answer.headers['x-openapi-credits-used']) };
  const { creditsUsed, task } = answer.json();
  const jobId = String(Object(task).taskId);
  const file = await fileOfJob(wire, { surface, jobId, account });
  return { ending, credits: Number(creditsUsed), jobId, file };
}

interface Job {
  readonly surface: Order['surface'];
  readonly jobId: string;
  readonly account: number;
}

async function fileOfJob(wire: Wire, { surface, jobId, account }: Job): Promise<Buffer> {
  const version = surface === 'job-v3' ? 'v3' : 'v1';
  const path = `/api/open/${version}/speech/tts/jobs/${jobId}`;
  const ended = await poll(wire, get(path), account, (answer) =>
    isOver(Object(answer.json()['task']).status),
  );
  expect(Object(ended.json()['task']).status).toBe('success');
  if (version === 'v3') return fileAt(wire, `${path}/audio`, account);
  const { audioUrl } = Object(ended.json()['task']);
  const { headers, status } = await insist(wire, get(`${audioUrl}?download=1`), account);
  expect(status).toBe(302);
  return fileAt(wire, String(headers['location']), account);
}

async function fileAt(wire: Wire, path: string, account: number): Promise<Buffer> {
  const { status, bytes } = await insist(wire, get(path), account);
  expect([path, status]).toEqual([path, 200]);
  return bytes;
}

/** Waits until no job is running, including jobs that no client knows of. */
export async function untilAllHaveEnded(wire: Wire, accounts: number): Promise<void> {
  for (let account = 0; account < accounts; account += 1) {
    for (const status of ['pending', 'processing']) {
      const list = get(`/api/open/v3/speech/tts/jobs?status=${status}&limit=1`);
      await poll(wire, list, account, (answer) => Object(answer.json())['items'].length === 0);
    }
  }
}

function isOver(status: unknown): boolean {
  return status !== 'pending' && status !== 'processing';
}

/** Returns the remaining credits of an account. */
export async function creditsLeft(wire: Wire, account: number): Promise<number> {
  return Number((await insist(wire, get('/api/open/v1/profile'), account)).json()['credits']);
}
