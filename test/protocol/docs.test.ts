import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { newConversation } from '../../src/live/state.ts';
import { transition } from '../../src/live/transition.ts';
import type { ReceivedFrame } from '../../src/live/server-message.ts';
import type { Event } from '../live/simulation.ts';
import { RELIABLE } from '../live/simulation.ts';
import { withContractTables } from '../contract/api-pages.ts';
import { REALTIME_TABLES } from '../contract/realtime-tables.ts';

const DOCS = new URL('../../docs/', import.meta.url);
const page = await readFile(new URL('protocol.md', DOCS), 'utf8');
const apiPage = await readFile(new URL('api/realtime.md', DOCS), 'utf8');

test('the pages have every table, as the contract has it (npm run generate)', () => {
  const both = page + apiPage;
  for (const name of Object.keys(REALTIME_TABLES)) expect(both).toContain(`<!-- ${name} -->\n\n|`);
  expect(withContractTables(page)).toBe(page);
  expect(withContractTables(apiPage)).toBe(apiPage);
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

test('the second example of the API page has the messages that the client sends', () => {
  const block = /```\n(> \{ event: 'start', mode: 'reliable'[^]*?)```/.exec(apiPage)?.[1] ?? '';
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

function message(one: ReceivedFrame): Event {
  return { type: 'message', connection: 1, message: one };
}
