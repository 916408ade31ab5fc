import { describe, expect, it } from 'vitest';
import type { ItemStatus } from '../../src/batch/journal/journal.ts';
import type { DecisionFacts } from '../../src/batch/run/decide.ts';
import { decide } from '../../src/batch/run/decide.ts';
import type { PurchaseMetadata, PurchaseState } from '../../src/paid/purchase.ts';

const HERE = 'https://here.test';

function statusOf(state: PurchaseState, facts: PurchaseMetadata = {}, origin = HERE): ItemStatus {
  const about = { output: 'a.mp3', key: 'k', origin };
  return { item: 'a', body: 'b', generation: 2, state, about, facts };
}

const JOB = { jobId: 'j' };
const PART = { jobId: 'j', isPartial: true };

type Row = readonly [string, ItemStatus | undefined, Partial<DecisionFacts>, unknown];

const ROWS: readonly Row[] = [
  ['new', undefined, {}, { kind: 'speak', generation: 0 }],
  ['new, to be redone', undefined, { isRedone: true }, { kind: 'speak', generation: 0 }],
  ['planned', statusOf('planned'), {}, { kind: 'speak', generation: 2, isAgain: false }],
  [
    'planned, to be redone: never delivered',
    statusOf('planned'),
    { isRedone: true },
    { kind: 'speak', generation: 2 },
  ],
  ['accepted', statusOf('accepted', JOB), {}, { kind: 'fetch' }],
  ['accepted, to be redone', statusOf('accepted', JOB), { isRedone: true }, { kind: 'fetch' }],
  [
    'accepted, failures retried',
    statusOf('accepted', JOB),
    { retriesFailed: true },
    { kind: 'fetch' },
  ],
  [
    'accepted elsewhere',
    statusOf('accepted', JOB, 'https://there.test'),
    {},
    { kind: 'ended', why: 'elsewhere' },
  ],
  [
    'accepted elsewhere, failures retried',
    statusOf('accepted', JOB, 'https://there.test'),
    { retriesFailed: true },
    { kind: 'ended' },
  ],
  ['failed', statusOf('failed'), {}, { kind: 'ended', why: 'failed' }],
  [
    'failed, retried',
    statusOf('failed'),
    { retriesFailed: true },
    { kind: 'speak', generation: 3, isAgain: true },
  ],
  [
    'failed, to be redone',
    statusOf('failed'),
    { isRedone: true },
    { kind: 'speak', generation: 3 },
  ],
  ['done', statusOf('published', JOB), { isPresent: true }, { kind: 'skip' }],
  [
    'done, failures retried',
    statusOf('published', JOB),
    { isPresent: true, retriesFailed: true },
    { kind: 'skip' },
  ],
  [
    'done, to be redone',
    statusOf('published', JOB),
    { isPresent: true, isRedone: true },
    { kind: 'speak', generation: 3 },
  ],
  ['done, file missing', statusOf('published', JOB), {}, { kind: 'fetch' }],
  [
    'done elsewhere, file present',
    statusOf('published', JOB, 'https://there.test'),
    { isPresent: true },
    { kind: 'skip' },
  ],
  [
    'done elsewhere, file missing',
    statusOf('published', JOB, 'https://there.test'),
    {},
    { kind: 'ended', why: 'elsewhere' },
  ],
  ['verified and renamed', statusOf('verified', JOB), { isPresent: true }, { kind: 'skip' }],
  ['verified and not renamed', statusOf('verified', JOB), {}, { kind: 'fetch' }],
  ['a part', statusOf('published', PART), { isPresent: true }, { kind: 'ended', why: 'partial' }],
  [
    'a part, retried',
    statusOf('published', PART),
    { isPresent: true, retriesFailed: true },
    { kind: 'speak', generation: 3 },
  ],
  ['a part, file missing', statusOf('published', PART), {}, { kind: 'fetch' }],
  // The same key prevents a second charge on the service that it was sent to.
  ['sent', statusOf('sent'), {}, { kind: 'speak', generation: 2, isAgain: false }],
  [
    'sent, retried',
    statusOf('sent'),
    { retriesFailed: true },
    { kind: 'speak', generation: 2, isAgain: false },
  ],
  [
    'sent elsewhere',
    statusOf('sent', {}, 'https://there.test'),
    {},
    { kind: 'ended', why: 'lost' },
  ],
  [
    'sent and refused elsewhere',
    statusOf('sent', { isRefused: true }, 'https://there.test'),
    {},
    { kind: 'speak', generation: 2 },
  ],
  // The service does not send a stream twice. The embedded one refunds it if its process ended.
  ['begun stream', statusOf('accepted'), {}, { kind: 'ended', why: 'lost' }],
  [
    'begun stream of the embedded service',
    statusOf('accepted', {}, 'embedded'),
    { origin: 'embedded' },
    { kind: 'speak', generation: 2, isAgain: false },
  ],
  [
    'begun stream of the embedded service, on another',
    statusOf('accepted', {}, 'embedded'),
    {},
    { kind: 'ended', why: 'lost' },
  ],
  ['lost', statusOf('lost'), {}, { kind: 'ended', why: 'lost' }],
  ['lost, retried', statusOf('lost'), { retriesFailed: true }, { kind: 'speak', generation: 3 }],
  ['streamed, file present', statusOf('published'), { isPresent: true }, { kind: 'skip' }],
  ['streamed, file missing', statusOf('published'), {}, { kind: 'ended', why: 'lost' }],
];

describe('the decision for an item', () => {
  it.each(ROWS)('%s', (_, status, facts, expected) => {
    const decision = decide({
      status,
      lastGeneration: status?.generation ?? -1,
      isPresent: false,
      isElsewhere: false,
      retriesFailed: false,
      isRedone: false,
      origin: HERE,
      ...facts,
    });
    expect(decision).toMatchObject(Object(expected));
  });
});
