import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { newConversation } from '../../src/live/state.ts';
import { transition } from '../../src/live/transition.ts';
import type { ReceivedMessage } from '../../src/live/server-message.ts';
import type { Event } from '../live/simulation.ts';
import { RELIABLE } from '../live/simulation.ts';
import { TABLE_NAMES, tablesIn, withTables } from './protocol-page.ts';

const page = await readFile(new URL('../../docs/protocol.md', import.meta.url), 'utf8');

test('the page has every table, as the contract has it (npm run generate)', () => {
  expect([...tablesIn(page)].toSorted()).toEqual([...TABLE_NAMES].toSorted());
  expect(withTables(page)).toBe(page);
});

test('the page has every state in which a conversation may be', () => {
  expect(statesUnder("## The client's states")).toEqual([
    'idle',
    'connecting',
    'authenticating',
    'starting',
    'speaking',
    'stopping',
    'backoff',
    'querying',
    'polling',
    'fetching',
    'waiting',
    'ended',
  ]);
});

test('the page has every state in which the service may be', () => {
  expect(statesUnder("## The service's states")).toEqual([
    'authenticating',
    'waiting',
    'starting',
    'speaking',
    'settling',
    'ended',
  ]);
});

function statesUnder(heading: string): readonly (string | undefined)[] {
  const [section = ''] = page.slice(page.indexOf(heading) + heading.length).split('\n## ', 1);
  return [...section.matchAll(/^\| `([a-z]+)` \|/gm)].map(([, name]) => name);
}

test('the second conversation of the page is what the machine says', () => {
  const block = /```\n(> \{ event: 'start', mode: 'reliable'[^]*?)```/.exec(page)?.[1] ?? '';
  const said = [...block.matchAll(/^> \{ event: '(\w+)'/gm)].map(([, event]) => event);
  const audio = Uint8Array.of(1);
  const events: readonly Event[] = [
    { type: 'begin' },
    { type: 'opened', connection: 1 },
    message({ event: 'authenticated' }),
    message({ event: 'ready', fields: { event: 'ready' } }),
    { type: 'text', text: 'Hello. ' },
    message({ event: 'audio', segmentId: 's1', sequence: 1, audio }),
    message({ event: 'segment_completed', segmentId: 's1', audioBytes: 1 }),
    { type: 'end' },
  ];
  let state = newConversation(RELIABLE);
  const sent = events.flatMap((event) => {
    const step = transition(state, { ...event, fraction: 0 });
    state = step.state;
    return step.effects.flatMap((one) => (one.type === 'send' ? [one.message.event] : []));
  });
  expect(said).toEqual(sent);
});

function message(one: ReceivedMessage): Event {
  return { type: 'message', connection: 1, message: one };
}
