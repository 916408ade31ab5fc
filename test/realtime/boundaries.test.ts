import { describe, expect, test } from 'vitest';
import { request } from 'undici';
import type { Version } from './messages.ts';
import { connectRealtime } from './raw-client.ts';
import type { RawRealtimeClient } from './raw-client.ts';
import { drop, serve } from './script.ts';
import type { Fault } from './script.ts';
import { startScriptedServer } from './scripted-server.ts';
import type { ScriptedServer } from './scripted-server.ts';
import { spokenAudio } from './segment-audio.ts';
import { isFields } from './wire-names.ts';
import type { Message } from './wire-names.ts';

const IS_FULL = process.env['FOLEY_TEST_SIZE'] === 'full';
/** A fault after a message is one before the next message too, except after the last. */
const SIDES: readonly Fault['when'][] = IS_FULL ? ['before', 'after'] : ['before'];
const TEXTS = IS_FULL ? ['One.', 'Two.', 'One.', 'Three.', 'Two.'] : ['One.', 'One.'];
const REQUEST = { voiceId: 'voice-1', modelId: 'vendor-s21pro-flash', format: 'pcm' };

/** Received frames by sequence number. */
type Heard = Map<number, Uint8Array>;

/**
 * Runs a simple client that resumes: it retries the request until `finish`, repeats segments that are not completed, and
 * fetches missing audio of completed ones if the version can.
 */
async function listen(server: ScriptedServer, version: Version): Promise<Heard> {
  const heard: Heard = new Map();
  const completed = new Set<string>();
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    if (await hasFinished(server, version, heard, completed)) {
      return heard;
    }
    await settled(server, attempt);
    await fetchStored(server, version, heard, completed);
  }
  throw new Error('Five connections were not enough.');
}

async function hasFinished(
  { baseUrl, key }: ScriptedServer,
  version: Version,
  heard: Heard,
  completed: Set<string>,
): Promise<boolean> {
  const client = await connectRealtime({ version, baseUrl, key });
  try {
    return await converse(client, completed);
  } catch {
    await client.ended();
    return false;
  } finally {
    for (const message of client.messages) {
      note(message, heard, completed);
    }
  }
}

async function converse(client: RawRealtimeClient, completed: Set<string>): Promise<boolean> {
  client.send({
    event: 'start',
    mode: 'reliable',
    requestId: 'request-1',
    retryFailed: true,
    request: REQUEST,
  });
  await client.expect('authenticated');
  const first = await client.next();
  if (first.event === 'request_status') {
    return first['state'] === 'completed';
  }
  for (const [index, text] of TEXTS.entries()) {
    const segmentId = `s${index + 1}`;
    if (!completed.has(segmentId)) {
      client.send({ event: 'text', sequence: index + 1, text });
      client.send({ event: 'flush', segmentId });
      await client.until('segment_completed');
    }
  }
  client.send({ event: 'stop' });
  await client.expect('finish', { reason: 'completed' });
  return true;
}

function note(message: Message, heard: Heard, completed: Set<string>): void {
  const { event, sequence, audio, segmentId } = message;
  if (event === 'audio' && audio instanceof Uint8Array) {
    heard.set(Number(sequence), audio);
  }
  if (event === 'segment_completed') {
    completed.add(String(segmentId));
  }
}

/** Waits until the nth connection of the server has ended. */
async function settled(server: ScriptedServer, count: number): Promise<void> {
  const connection = await server.connected(count);
  await connection.gone;
}

async function fetchStored(
  { baseUrl, key }: ScriptedServer,
  version: Version,
  heard: Heard,
  completed: Set<string>,
): Promise<void> {
  const url = `${baseUrl}/${version}/tts/requests/request-1`;
  const headers = { Authorization: `Bearer ${key}` };
  const status: unknown = await (await request(url, { headers })).body.json();
  const segments: unknown = isFields(status) ? status['segments'] : undefined;
  for (const row of Array.isArray(segments) && version === 'v3' ? segments.filter(isFields) : []) {
    const { segmentId, firstAudioSequence, lastAudioSequence } = row;
    const answer = await request(`${url}/segments/${String(segmentId)}/audio`, { headers });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    const [first, last] = [Number(firstAudioSequence), Number(lastAudioSequence)];
    const size = bytes.byteLength / (last - first + 1);
    for (let sequence = first; sequence <= last; sequence += 1) {
      const start = (sequence - first) * size;
      heard.set(sequence, bytes.subarray(start, start + size));
    }
    completed.add(String(segmentId));
  }
}

async function outcome(version: Version, interrupted: 'stored' | 'failed', fault?: Fault) {
  const faults = fault === undefined ? [] : [fault];
  const server = await startScriptedServer({
    interrupted,
    connections: [{ steps: [serve({ faults })] }],
  });
  const heard = await listen(server, version);
  const ordered = [...heard].sort(([one], [other]) => one - other);
  const { connections } = server;
  const count = (direction: 'sent' | 'messages'): number => connections[0]?.[direction].length ?? 0;
  return {
    audio: Buffer.concat(ordered.map(([, audio]) => audio)),
    charged: server.book.charges.map(({ segmentId, text }) => `${segmentId} ${text}`),
    connections: connections.length,
    sent: count('sent'),
    received: count('messages'),
  };
}

const CASES = [
  ['v3', 'stored'],
  ['v3', 'failed'],
  ['v2', 'failed'],
] as const;

describe.each(CASES)('%s, an interrupted segment is %s', (version, interrupted) => {
  test('a connection dropped at any boundary changes neither the audio nor the cost', async () => {
    const calm = await outcome(version, interrupted);
    expect(calm.audio.equals(spokenAudio(TEXTS, 'pcm'))).toBe(true);
    expect(calm.charged).toStrictEqual(TEXTS.map((text, index) => `s${index + 1} ${text}`));
    const counts = { connections: 1, sent: 3 + 7 * TEXTS.length, received: 2 + 2 * TEXTS.length };
    expect(calm).toMatchObject(counts);
    for (const fault of [...faultsOf('sent', calm.sent), ...faultsOf('received', calm.received)]) {
      const disturbed = await outcome(version, interrupted, fault);
      const place = `${fault.when} ${fault.on} ${fault.number}`;
      expect(disturbed.audio.equals(calm.audio), place).toBe(true);
      expect(disturbed.charged.toSorted(), place).toStrictEqual(calm.charged);
      const isAfterTheEnd =
        fault.on === 'sent' && fault.number === calm.sent && fault.when === 'after';
      expect(disturbed.connections > 1, place).toBe(!isAfterTheEnd);
    }
  });
});

function faultsOf(on: Fault['on'], count: number): Fault[] {
  return Array.from({ length: count }, (_, index) => index + 1).flatMap((number) =>
    SIDES.map((when) => ({ on, number, when, steps: [drop()] })),
  );
}
