import assert from 'node:assert/strict';
import type { ReadStream } from '../../harness/read-events.ts';
import { parseEvents } from '../../harness/read-events.ts';
import { answerFields } from '../answer-fields.ts';
import type { Behaviour } from '../behaviour.ts';
import { at, claimRefused, claimStatus, claimType } from '../claims.ts';
import { freshKey, type ModelFact, modelsOf, pairOf, SPEECH } from '../facts.ts';
import type { ServiceUnderTest } from '../service-under-test.ts';
import { NotApplicable } from '../service-under-test.ts';

const ALIGNED = `${SPEECH}/aligned`;
const SECTION = 'speech#aligned-stream';
const TEXT = 'Hello there. It costs $42.50, Dr. Smith said.';

/** What an aligned stream is (docs/api/speech.md#aligned-stream). */
export const aligned: readonly Behaviour[] = [
  ...answerFields('AlignedAudio', eventData('audio')),
  ...answerFields('AlignmentSnapshot', eventData('alignment_snapshot')),
  ...answerFields('AlignedWord', async (service) =>
    at(await eventData('alignment_snapshot')(service), 'words.0'),
  ),
  ...answerFields('AlignedCompleted', eventData('completed')),
  ...order(),
  ...money(),
  ...ofOurs(),
];

function order(): readonly Behaviour[] {
  return [
    {
      id: 'aligned.stream',
      section: SECTION,
      on: ALIGNED,
      what: '200 `text/event-stream`; the last event is `completed`, and the audio packets joined play',
      spends: true,
      async check(service) {
        const { answer, stream } = await spoken(service);
        claimStatus(answer, 200);
        assert.match(String(answer.header('Content-Type')), /^text\/event-stream/);
        assert.equal(stream.last?.name, 'completed');
        assert.ok((await service.listen(Buffer.from(stream.audio))) > 500);
      },
    },
    {
      id: 'aligned.times',
      section: SECTION,
      on: ALIGNED,
      what: 'Times are absolute: words follow each other over the chunks and none ends after the audio',
      spends: true,
      async check(service) {
        const { stream } = await spoken(service);
        const lengthMs = await service.listen(Buffer.from(stream.audio));
        let before = 0;
        for (const { startMs, endMs, text } of stream.words) {
          assert.ok(startMs >= before && endMs >= startMs, `${text} at ${startMs} to ${endMs}`);
          before = startMs;
        }
        assert.ok((stream.words.at(-1)?.endMs ?? Infinity) <= lengthMs + 1);
      },
    },
    {
      id: 'aligned.model',
      section: SECTION,
      on: ALIGNED,
      what: 'A model that does not declare `alignedStreaming` is 400, as JSON',
      covers: ['ERR_INVALID_REQUEST'],
      async check(service) {
        const { model: _, ...pair } = await pairOf(service, (model) => !isAligned(model));
        const answer = await service.ask(ALIGNED, { body: { text: TEXT, ...pair } });
        claimRefused(answer, 400, 'ERR_INVALID_REQUEST', service);
        if (!service.isOurs) return;
        const able = (await modelsOf(service)).filter(isAligned);
        const message = String(at(answer.json(), 'message'));
        assert.ok(able.some(({ id }) => message.includes(id)));
      },
    },
    {
      id: 'aligned.pre-stream',
      section: SECTION,
      on: ALIGNED,
      what: 'Errors before the stream are JSON: a body that is wrong, a voice that is none',
      async check(service) {
        const wrong = await service.ask(ALIGNED, { body: { text: TEXT } });
        claimRefused(wrong, 400, 'ERR_INVALID_REQUEST', service);
        const unknown = { text: TEXT, voiceId: crypto.randomUUID() };
        claimStatus(await service.ask(ALIGNED, { body: unknown }), 400, 404);
      },
    },
  ];
}

function money(): readonly Behaviour[] {
  return [
    {
      id: 'aligned.key',
      section: 'errors#idempotency',
      on: ALIGNED,
      what: 'Same key, same payload, completed: 409 `ERR_REQUEST_ALREADY_COMPLETED`; other payload: conflict',
      covers: ['ERR_REQUEST_ALREADY_COMPLETED', 'ERR_REQUEST_ID_CONFLICT'],
      spends: true,
      async check(service) {
        const headers = { 'Idempotency-Key': freshKey() };
        const body = await alignedBody(service);
        claimStatus(await service.ask(ALIGNED, { headers, body }), 200);
        const again = await service.ask(ALIGNED, { headers, body });
        claimRefused(again, 409, 'ERR_REQUEST_ALREADY_COMPLETED', service);
        const other = await service.ask(ALIGNED, { headers, body: { ...body, text: 'Other.' } });
        claimRefused(other, 409, 'ERR_REQUEST_ID_CONFLICT', service);
      },
    },
  ];
}

/** What only a service of which the voices are known can be made to show. */
function ofOurs(): readonly Behaviour[] {
  return [
    {
      id: 'aligned.invalidated',
      section: SECTION,
      on: ALIGNED,
      what: '`alignment_invalidated` names a chunk without times; `alignmentStatus` is `partial` then',
      covers: ['AlignmentInvalidated.chunkSeq'],
      spends: true,
      async check(service) {
        if (!service.isOurs) throw new NotApplicable('which text does it is not known');
        const body = { ...(await alignedBody(service)), text: 'Hello there. 你好。 Goodbye.' };
        const { events, last } = parseEvents(textOf(await service.ask(ALIGNED, { body })));
        const invalid = events.find(({ name }) => name === 'alignment_invalidated');
        claimType(invalid?.data['chunkSeq'], 'integer', 'chunkSeq');
        assert.equal(last?.data['alignmentStatus'], 'partial');
      },
    },
    {
      id: 'aligned.unspoken',
      section: SECTION,
      on: ALIGNED,
      what: 'A stream that leaves a word out is `partial`, and a header names the letters',
      covers: ['X-Foley-Unspoken'],
      spends: true,
      async check(service) {
        if (!service.isOurs)
          throw new NotApplicable('which letters its voices leave out is not known');
        const body = { ...(await alignedBody(service)), text: 'Hello 你好 world' };
        const answer = await service.ask(ALIGNED, { body });
        assert.equal(answer.header('X-Foley-Unspoken'), '6-8');
        assert.equal(parseEvents(textOf(answer)).last?.data['alignmentStatus'], 'partial');
      },
    },
    {
      id: 'aligned.replaced',
      section: SECTION,
      on: ALIGNED,
      what: 'A newer snapshot of a chunk replaces the older one',
      spends: true,
      async check(service) {
        if (!service.isOurs) throw new NotApplicable('whether it has two of one is not known');
        const { events } = (await spoken(service)).stream;
        const chunks = events.flatMap(({ name, data }) =>
          name === 'alignment_snapshot' ? [data['chunkSeq']] : [],
        );
        assert.deepEqual(chunks, [0, 0, 1, 1]);
      },
    },
  ];
}

function isAligned({ supportedOperations }: ModelFact): boolean {
  return supportedOperations['alignedStreaming'] === true;
}

async function alignedBody(service: ServiceUnderTest): Promise<Record<string, unknown>> {
  const { model: _, ...pair } = await pairOf(service, isAligned);
  return { text: TEXT, ...pair };
}

interface Spoken {
  readonly answer: Awaited<ReturnType<ServiceUnderTest['ask']>>;
  readonly stream: ReadStream;
}

/** A stream of two sentences, asked for once. */
async function spoken(service: ServiceUnderTest): Promise<Spoken> {
  return service.once('an aligned stream', async () => {
    const answer = await service.ask(ALIGNED, { body: await alignedBody(service) });
    return { answer, stream: parseEvents(textOf(answer)) };
  });
}

function textOf(answer: { readonly bytes: Buffer }): string {
  return answer.bytes.toString();
}

/** Data of the first event of a name. */
function eventData(name: string) {
  return async (service: ServiceUnderTest): Promise<unknown> => {
    const { events } = (await spoken(service)).stream;
    return events.find((event) => event.name === name)?.data;
  };
}
