import { Socket } from 'node:net';
import { allBytesRead } from '../fault-server/unread-bytes.ts';
import { describeArrived } from './arrival.ts';
import type { Arrived } from './arrival.ts';
import { emptyFragments, fragmented, writeGiantFrame, written } from './frames.ts';
import type { PlayedConnection } from './played-connection.ts';
import type { Fault, Step, Tamper } from './script.ts';
import type { Message } from './wire-names.ts';

type Serving = Extract<Step, { readonly kind: 'serve' }>;
type Expecting = Extract<Step, { readonly kind: 'expect' }>;

/** Plays the steps of a script until the client disconnects. */
export async function playSteps(
  connection: PlayedConnection,
  steps: readonly Step[],
): Promise<void> {
  for (const step of steps) {
    if (!connection.isOpen) {
      return;
    }
    await playStep(connection, step);
  }
}

async function playStep(connection: PlayedConnection, step: Step): Promise<void> {
  const { socket, raw } = connection;
  switch (step.kind) {
    case 'serve':
      return serveConversation(connection, step);
    case 'expect':
      return expectNext(connection, step);
    case 'send':
      return connection.sendScripted(step.message);
    case 'reply': {
      const { eventId: inReplyTo } = await connection.receivedMessage(step.to);
      return connection.sendScripted({ ...step.message, inReplyTo });
    }
    case 'sendBytes':
      return socket.send(step.bytes);
    case 'sendText':
      return socket.send(step.text, { binary: false });
    case 'write':
      await written(raw, step.bytes);
      return;
    case 'fragments':
      await written(raw, fragmented(connection.encoded(step.message), step.size, false));
      return;
    case 'emptyFragments':
      await written(raw, emptyFragments(step.count, false));
      return;
    case 'giant':
      await writeGiantFrame(raw, step.length, false);
      return;
    case 'ping':
      return socket.ping();
    case 'pause':
      await connection.context.gate.pause(connection.gone);
      return;
    case 'hold':
      return socket.pause();
    case 'release':
      return socket.resume();
    case 'silence':
      return beSilent(connection);
    case 'close':
      socket.close(step.code, step.reason);
      return connection.gone;
    case 'drop':
      return dropConnection(connection);
    case 'reset':
      return resetConnection(connection);
  }
}

async function serveConversation(connection: PlayedConnection, step: Serving): Promise<void> {
  const { conversation } = connection;
  const { faults } = step;
  await sendAll(connection, conversation.greet(), step);
  const events: string[] = [];
  while (conversation.closeCode === undefined) {
    const arrived = connection.isOpen ? await nextArrived(connection) : undefined;
    if (arrived === undefined) {
      conversation.lost();
      return;
    }
    events.push(arrived.kind === 'message' ? arrived.message.event : arrived.kind);
    await playFault(connection, faults, { on: 'received', events, when: 'before' });
    const isHeard = connection.isOpen;
    const answers = isHeard ? conversation.receive(arrived) : [];
    await playFault(connection, faults, { on: 'received', events, when: 'after' });
    await sendAll(connection, answers, step);
  }
  conversation.lost();
  if (!step.isLeftOpen && connection.isOpen) {
    connection.socket.close(conversation.closeCode);
    await connection.gone;
  }
}

/** Waits without a timeout of its own: only a disconnect ends the wait. */
async function nextArrived(connection: PlayedConnection): Promise<Arrived | undefined> {
  try {
    return await connection.take('a message of the client');
  } catch (error) {
    connection.context.problem(String(error));
    connection.socket.terminate();
    return undefined;
  }
}

async function sendAll(
  connection: PlayedConnection,
  messages: readonly Message[],
  { faults, tamper }: Serving,
): Promise<void> {
  for (const message of tampered(messages, tamper)) {
    const events = [...connection.sent, message].map(({ event }) => event);
    await playFault(connection, faults, { on: 'sent', events, when: 'before' });
    if (!connection.isOpen) {
      return;
    }
    connection.send(message);
    connection.conversation.noteSent(message);
    await connection.drained();
    await playFault(connection, faults, { on: 'sent', events, when: 'after' });
  }
}

async function playFault(
  connection: PlayedConnection,
  faults: readonly Fault[],
  place: Boundary,
): Promise<void> {
  const fault = faultAt(faults, place);
  if (fault !== undefined) {
    await playSteps(connection, fault.steps);
  }
}

async function expectNext(connection: PlayedConnection, step: Expecting): Promise<void> {
  const arrived = await connection.take(step.event);
  const message = arrived?.kind === 'message' ? arrived.message : undefined;
  const wrong = Object.entries(step.fields).filter(([name, value]) => message?.[name] !== value);
  if (message?.event !== step.event || wrong.length > 0) {
    const came = arrived === undefined ? 'the end of the connection' : describeArrived(arrived);
    throw new Error(`expected ${step.event} ${JSON.stringify(step.fields)}, came ${came}`);
  }
}

async function beSilent({ raw, gone }: PlayedConnection): Promise<void> {
  raw.removeAllListeners('data');
  raw.on('data', () => undefined);
  raw.resume();
  return gone;
}

/** Ends the TCP connection after all data was sent, without a closing handshake. */
async function dropConnection({ raw, socket, gone }: PlayedConnection): Promise<void> {
  socket.removeAllListeners('message');
  raw.end();
  raw.removeAllListeners('data');
  raw.on('data', () => undefined);
  raw.resume();
  return gone;
}

/** Resets the connection after the client has read everything before. */
async function resetConnection({ raw, gone }: PlayedConnection): Promise<void> {
  if (raw instanceof Socket) {
    await allBytesRead(raw);
    raw.resetAndDestroy();
  }
  return gone;
}

/** A boundary between two messages of a connection. */
interface Boundary {
  readonly on: Fault['on'];
  readonly when: Fault['when'];
  /** The events of this direction up to the boundary. */
  readonly events: readonly string[];
}

/** Returns the fault of a boundary, if the script has one. */
function faultAt(faults: readonly Fault[], place: Boundary): Fault | undefined {
  return faults.find(({ on, when, event, number }) => {
    const counted = place.events.filter((name) => event === undefined || name === event);
    const isMeant = event === undefined || place.events.at(-1) === event;
    return on === place.on && when === place.when && isMeant && counted.length === number;
  });
}

/** Returns a reply with its audio repeated, omitted or reordered. */
function tampered(messages: readonly Message[], tamper: readonly Tamper[]): Message[] {
  const result = [...messages];
  for (const { kind, sequence } of tamper) {
    const at = result.findIndex(
      (message) => message.event === 'audio' && message['sequence'] === sequence,
    );
    const frame = result[at];
    const next = result[at + 1];
    if (frame === undefined) {
      continue;
    }
    if (kind === 'skip') {
      result.splice(at, 1);
    } else if (kind === 'duplicate') {
      result.splice(at, 0, frame);
    } else if (next?.event === 'audio') {
      result.splice(at, 2, next, frame);
    }
  }
  return result;
}
