import assert from 'node:assert/strict';
import type { Behaviour } from '../behaviour.ts';
import { at, claimRefused, claimStatus } from '../claims.ts';
import { modelsOf, read, voicesOf } from '../facts.ts';
import type { ServiceUnderTest } from '../service-under-test.ts';
import { oneVoice } from './voice-fields.ts';

const V3 = 'GET /api/open/v3/voices';
const V1 = 'GET /api/open/v1/voices';
const OLD = 'POST /api/open/list-models';
const COMPAT = 'GET /v1/audio/voices';

/** Pages and filters of the lists of voices (docs/api/README.md). */
export const voices: readonly Behaviour[] = [
  ...[V3, V1].flatMap((on) => paging(on)),
  ...filters(),
  ...consistency(),
];

async function listed(
  service: ServiceUnderTest,
  on: string,
  query: Readonly<Record<string, string | number | boolean>>,
): Promise<unknown> {
  const answer = await service.ask(on, { query });
  claimStatus(answer, 200);
  return answer.json();
}

async function idsOf(
  service: ServiceUnderTest,
  on: string,
  query: Parameters<typeof listed>[2],
): Promise<readonly string[]> {
  const { items } = Object(await listed(service, on, query));
  return items.map(({ voiceId }: { readonly voiceId: string }) => voiceId);
}

function paging(on: string): readonly Behaviour[] {
  const id = on === V3 ? 'voices-v3' : 'voices-v1';
  const of = on === V3 ? 'VoiceListQuery' : 'VoiceListV1Query';
  return [
    {
      id: `${id}.defaults`,
      section: 'limits',
      on,
      what: '`page` is 1 and `pageSize` 20 where they are not given',
      covers: [`${of}.page`, `${of}.pageSize`, 'PAGE_SIZE_DEFAULT'],
      async check(service) {
        const list = (await read(service, on)).json();
        assert.deepEqual([at(list, 'page'), at(list, 'pageSize')], [1, 20]);
      },
    },
    {
      id: `${id}.page-size-max`,
      section: 'limits',
      on,
      what: '`pageSize` is 100 at most; more is 400',
      covers: [`${of}.pageSize`, 'PAGE_SIZE_MAX'],
      async check(service) {
        assert.equal(at(await listed(service, on, { pageSize: 100 }), 'pageSize'), 100);
        const answer = await service.ask(on, { query: { pageSize: 101 } });
        if (service.isOurs) claimRefused(answer, 400, 'ERR_INVALID_REQUEST', service);
        else if (answer.status === 200) assert.ok(Number(at(answer.json(), 'pageSize')) <= 100);
      },
    },
    {
      id: `${id}.pages`,
      section: 'voices',
      on,
      what: 'Pages follow each other without gap or overlap, and `totalPages` is right; what is past the end is empty',
      covers: [`${of}.page`, `${of}.pageSize`],
      async check(service) {
        const all = await idsOf(service, on, { pageSize: 100 });
        const { total, totalPages } = Object(await listed(service, on, { pageSize: 4 }));
        assert.equal(totalPages, Math.ceil(total / 4));
        const first = await idsOf(service, on, { pageSize: 4, page: 1 });
        const second = await idsOf(service, on, { pageSize: 4, page: 2 });
        assert.deepEqual([...first, ...second], all.slice(0, 8));
        assert.deepEqual(await idsOf(service, on, { pageSize: 100, page: totalPages + 100 }), []);
      },
    },
    ...['page', 'pageSize'].map((name): Behaviour => ({
      id: `${id}.${name}.refuses`,
      section: 'voices',
      on,
      what: `\`${name}\` is an integer from 1: 400 for 0, -1, 1.5 and words`,
      covers: [`${of}.${name}`],
      async check(service) {
        for (const value of [0, -1, 1.5, 'many']) {
          claimRefused(
            await service.ask(on, { query: { [name]: value } }),
            400,
            'ERR_INVALID_REQUEST',
            service,
          );
        }
      },
    })),
    {
      id: `${id}.includePersonal`,
      section: 'voices',
      on,
      what: '`includePersonal` is a boolean; without it only public voices are listed',
      covers: [`${of}.includePersonal`],
      async check(service) {
        const { items } = Object(await listed(service, on, {}));
        assert.ok(items.every((item: unknown) => at(item, 'isPersonal') === false));
        for (const value of [true, false]) await listed(service, on, { includePersonal: value });
        claimRefused(
          await service.ask(on, { query: { includePersonal: 'yes' } }),
          400,
          'ERR_INVALID_REQUEST',
          service,
        );
      },
    },
  ];
}

function row(name: string, what: string, check: Behaviour['check'], id: string = name): Behaviour {
  return {
    id: `voices-v1.${id}`,
    section: 'voices',
    on: V1,
    what,
    covers: [`VoiceListV1Query.${name}`],
    check,
  };
}

/** The filters of v1, also as the body of the older endpoint. */
function filters(): readonly Behaviour[] {
  return [
    row(
      'modelType',
      '`modelType` is public, personal or all; anything else is 400',
      async (service) => {
        const all = await idsOf(service, V1, { modelType: 'all' });
        const open = await idsOf(service, V1, { modelType: 'public' });
        const own = await idsOf(service, V1, { modelType: 'personal' });
        assert.equal(new Set([...open, ...own]).size >= all.length, true);
        assert.ok(own.every((id) => !open.includes(id)));
        claimStatus(await service.ask(V1, { query: { modelType: 'mine' } }), 400);
      },
    ),
    row('language', '`language` is the exact primary language', async (service) => {
      const [voice] = await voicesOf(service);
      const language = voice?.primaryLanguage ?? '';
      const found = await idsOf(service, V1, { language, pageSize: 100 });
      const wanted = (await voicesOf(service)).filter(
        ({ primaryLanguage }) => primaryLanguage === language,
      );
      assert.deepEqual(found.toSorted(), wanted.map(({ voiceId }) => voiceId).toSorted());
      assert.deepEqual(await idsOf(service, V1, { language: 'xx' }), []);
    }),
    row('supportsLanguage', '`supportsLanguage` finds voices that support it', async (service) => {
      const [voice] = await voicesOf(service);
      const query = { supportsLanguage: voice?.primaryLanguage ?? '', pageSize: 100 };
      assert.ok((await idsOf(service, V1, query)).includes(voice?.voiceId ?? ''));
      assert.deepEqual(await idsOf(service, V1, { supportsLanguage: 'xx' }), []);
    }),
    row(
      'search',
      '`search` looks into name and description, whatever the case',
      async (service) => {
        const { items } = Object(await listed(service, V1, {}));
        for (const words of [
          items[0].title.toUpperCase(),
          items[0].description.slice(0, 5).toLowerCase(),
        ]) {
          assert.ok((await idsOf(service, V1, { search: words })).includes(items[0].voiceId));
        }
        assert.deepEqual(await idsOf(service, V1, { search: 'no such voice anywhere' }), []);
      },
    ),
    row('provider', '`provider` is one of the other description', async (service) => {
      const { items } = Object(await listed(service, V1, {}));
      const found = Object(await listed(service, V1, { provider: items[0].provider })).items;
      assert.ok(found.every((item: unknown) => at(item, 'provider') === items[0].provider));
    }),
    row(
      'offset',
      '`limit` and `offset` of the other description are a stretch of the same list',
      async (service) => {
        const all = await idsOf(service, V1, { pageSize: 100 });
        assert.deepEqual(await idsOf(service, V1, { limit: 3, offset: 2 }), all.slice(2, 5));
      },
    ),
    row('limit', '`limit` is 100 at most', async (service) => {
      const { items } = Object(await listed(service, V1, { limit: 2 }));
      assert.equal(items.length, 2);
      if (service.isOurs) claimStatus(await service.ask(V1, { query: { limit: 101 } }), 400);
    }),
    row(
      'modelType',
      'Without filters the first page of public voices is answered',
      async (service) => {
        const plain = await idsOf(service, V1, {});
        assert.deepEqual(
          plain,
          await idsOf(service, V1, { page: 1, pageSize: 20, modelType: 'public' }),
        );
      },
      'no-filters',
    ),
    {
      id: 'list-models',
      section: 'versions',
      on: OLD,
      what: 'The same list and filters, as a JSON body',
      async check(service) {
        const body = { pageSize: 3, page: 2 };
        const old = await service.ask(OLD, { body });
        claimStatus(old, 200);
        assert.deepEqual(old.json(), await listed(service, V1, body));
      },
    },
  ];
}

function consistency(): readonly Behaviour[] {
  return [
    {
      id: 'voices-v3.unknown',
      section: 'errors',
      on: `${V3}/{voiceId}`,
      what: '404: a voice that there is not',
      covers: ['ERR_VOICE_NOT_FOUND'],
      check: async (service) =>
        claimRefused(await service.ask(`${V3}/unknown`), 404, 'ERR_VOICE_NOT_FOUND', service),
    },
    {
      id: 'voices-v3.one',
      section: 'voices',
      on: `${V3}/{voiceId}`,
      what: 'One voice is the item of the list',
      async check(service) {
        const { requestId: _, ...voice } = Object(await oneVoice(service));
        assert.deepEqual(voice, (await voicesOf(service))[0]);
      },
    },
    {
      id: 'voices-v3.models',
      section: 'voices',
      on: V3,
      what: 'Every model of a voice is in the capabilities, and of one family',
      async check(service) {
        const known = new Set((await modelsOf(service)).map(({ id }) => id));
        for (const { modelIds } of await voicesOf(service)) {
          assert.ok(modelIds.every((id) => known.has(id)));
          assert.equal(new Set(modelIds.map((id) => /^(vendor|alt[A-F])/.exec(id)?.[0])).size, 1);
        }
      },
    },
    {
      id: 'voices-compat.all',
      section: 'other-clients',
      on: COMPAT,
      what: 'The compatibility list has the ids of the voices',
      async check(service) {
        const { voices: found } = Object((await read(service, COMPAT)).json());
        const ids = new Set(found.map(({ id }: { readonly id: string }) => id));
        assert.ok((await voicesOf(service)).every(({ voiceId }) => ids.has(voiceId)));
      },
    },
  ];
}
