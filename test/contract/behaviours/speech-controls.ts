import assert from 'node:assert/strict';
import type { Behaviour } from '../behaviour.ts';
import { claimAudio, claimRefused, claimStatus } from '../claims.ts';
import type { ModelFact } from '../facts.ts';
import { creditsOf, isOfFamily, pairOf, plainBody, TEXT } from '../facts.ts';
import type { ServiceUnderTest } from '../service-under-test.ts';
import { NotApplicable } from '../service-under-test.ts';

const V3 = { id: 'tts-v3', on: 'POST /api/open/v3/speech/tts' };
const V2 = { id: 'tts-v2', on: 'POST /api/open/v2/speech/tts' };
const V1 = { id: 'tts-v1', on: 'POST /api/open/v1/speech/tts' };

/** What depends on the model, and the filter of kaomoji (docs/api/models.md#families and docs/api/speech.md#v3). */
export const speechControls: readonly Behaviour[] = [...families(), ...filterEmoji()];

/** Ranges that a family narrows or widens (docs/api/models.md#families), and controls that it has not. */
function families(): readonly Behaviour[] {
  const { on } = V3;
  const bound = (family: string, control: string, value: number, isGood: boolean): Behaviour => ({
    id: `family.${family}.${control}.${value}`,
    section: 'models',
    on,
    what: `${family}: \`${control}\` ${value} is ${isGood ? 'taken' : 'refused: 400'}`,
    spends: isGood,
    async check(service) {
      const { voiceId, modelId } = await pairOf(service, isOfFamily(family));
      const answer = await service.ask(on, {
        body: { text: TEXT, voiceId, modelId, [control]: value },
      });
      claimStatus(answer, isGood ? 200 : 400);
    },
  });
  const ends = (
    family: string,
    control: string,
    good: readonly number[],
    bad: readonly number[],
  ) => [
    ...good.map((value) => bound(family, control, value, true)),
    ...bad.map((value) => bound(family, control, value, false)),
  ];
  return [
    ...ends('altF', 'stability', [0, 1], [-0.01, 1.01]),
    ...ends('altF', 'similarity', [0, 1], [-0.01, 1.01]),
    ...ends('altF', 'speed', [0.7, 1.2], [0.69, 1.21]),
    ...ends('vendor', 'stability', [0.5, 1.5], [0.49, 1.51]),
    ...ends('vendor', 'similarity', [0.5, 1.5], [0.49, 1.51]),
    ...['volume', 'pitch', 'stability', 'similarity'].map((control) => ignored(control)),
    {
      id: 'tts-v3.unspoken',
      section: 'speech#v3',
      on,
      what: '`X-Foley-Unspoken` names the letters that the voice leaves out, and is missing without any',
      covers: ['X-Foley-Unspoken'],
      spends: true,
      async check(service) {
        if (!service.isOurs) throw new NotApplicable('a hosted service does not send it');
        const body = await plainBody(service);
        const mixed = await service.ask(on, { body: { ...body, text: 'Hello 你好 world 🙂' } });
        assert.equal(mixed.header('X-Foley-Unspoken'), '6-8');
        const plain = await service.ask(on, { body: { ...body, text: 'Hello world 🙂' } });
        assert.equal(plain.header('X-Foley-Unspoken'), null);
      },
    },
    {
      id: 'tts-v3.ignored.none',
      section: 'speech#v3',
      on,
      what: '`X-OpenAPI-Ignored-Parameters` is there only when something was ignored',
      covers: ['X-OpenAPI-Ignored-Parameters'],
      spends: true,
      async check(service) {
        const answer = await service.ask(on, {
          body: { ...(await plainBody(service)), speed: 1.1 },
        });
        assert.equal(answer.header('X-OpenAPI-Ignored-Parameters'), null);
      },
    },
  ];
}

function ignored(control: string): Behaviour {
  return {
    id: `tts-v3.ignored.${control}`,
    section: 'speech#v3',
    on: V3.on,
    what: `\`${control}\` is ignored, and listed, by a model without it`,
    covers: ['X-OpenAPI-Ignored-Parameters', `Model.controls.${control}`],
    spends: true,
    async check(service) {
      const lacks = ({ controls }: ModelFact) => controls[control] === false;
      const { voiceId, modelId } = await pairOf(service, lacks);
      const body = { text: TEXT, voiceId, modelId, [control]: 1 };
      const answer = await service.ask(V3.on, { body });
      claimAudio(answer);
      const listed = answer.header('X-OpenAPI-Ignored-Parameters') ?? '';
      assert.ok(listed.split(/, ?/).includes(control), `ignored are "${listed}"`);
    },
  };
}

async function withFilter(service: ServiceUnderTest, text: string): Promise<object> {
  return { ...(await plainBody(service)), text, filterEmoji: true };
}

function filterEmoji(): readonly Behaviour[] {
  return [V3, V2, V1].flatMap(({ id, on }) => [
    {
      id: `${id}.filterEmoji.empty`,
      section: 'speech#v3',
      on,
      what: '400 when nothing but white space is left, before anything is charged',
      async check(service: ServiceUnderTest) {
        const before = await creditsOf(service);
        const answer = await service.ask(on, { body: await withFilter(service, ' (◕‿◕) ') });
        claimRefused(answer, 400, 'ERR_INVALID_REQUEST', service);
        assert.equal(await creditsOf(service), before);
      },
    },
    {
      id: `${id}.filterEmoji.billing`,
      section: 'speech#v3',
      on,
      what: 'Kaomoji are not billed; emoji, ASCII faces, code, URLs and quotes stay',
      spends: true,
      async check(service: ServiceUnderTest) {
        const cost = async (text: string) =>
          (await service.ask(on, { body: await withFilter(service, text) })).header(
            'X-OpenAPI-Credits-Used',
          );
        assert.equal(
          await cost('Hello there, my friend. (◕‿◕)'),
          await cost('Hello there, my friend. '),
        );
        const kept = 'Hello 🙂 :-) `(◕‿◕)` there.';
        const plain = { ...(await plainBody(service)), text: kept };
        const whole = (await service.ask(on, { body: plain })).header('X-OpenAPI-Credits-Used');
        assert.equal(await cost(kept), whole);
      },
    },
    {
      id: `${id}.filterEmoji.limits`,
      section: 'speech#v3',
      on,
      what: 'Limits are checked before it: 10,001 characters are 400 although fewer would be left',
      async check(service: ServiceUnderTest) {
        const text = `${'a'.repeat(9_996)}(◕‿◕)`;
        claimRefused(
          await service.ask(on, { body: await withFilter(service, text) }),
          400,
          'ERR_INVALID_REQUEST',
          service,
        );
      },
    },
  ]);
}
