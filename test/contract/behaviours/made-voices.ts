import assert from 'node:assert/strict';
import type { FormPart } from '../../harness/multipart-body.ts';
import type { Behaviour } from '../behaviour.ts';
import { at, claimAudio, claimNames, claimRefused, claimStatus } from '../claims.ts';
import { creditsOf, SPEECH, TEXT } from '../facts.ts';
import type { ServiceUnderTest } from '../service-under-test.ts';
import { NotApplicable } from '../service-under-test.ts';
import {
  CREATE,
  CREATE_OLD,
  DELETE,
  formWith,
  GOOD,
  recording,
  send,
  withVoice,
} from './voice-upload.ts';

const LIST = 'GET /api/open/v3/voices';
const DELETE_V3 = 'DELETE /api/open/v3/voices/{voiceId}';
const DELETE_OLD = 'POST /api/open/delete-model';
const EXTENSIONS = 'aac flac m4a mp3 mp4 mpeg oga ogg opus wav webm'.split(' ');

/** Voices that are made from reference audio, used and deleted (docs/api/README.md). */
export const madeVoices: readonly Behaviour[] = [...files(), ...use(), ...deletion()];

function files(): readonly Behaviour[] {
  const wav = recording();
  return [
    aboutFiles('required', 'At least one file: 400 without', [], (service) => refuse(service, [])),
    {
      ...aboutFiles('several', 'Several files make one voice', [], (service) =>
        withVoice(service, [...GOOD, file('second.wav', recording(150))], ({ voiceId }) =>
          assert.ok(voiceId),
        ),
      ),
      spends: true,
    },
    aboutFiles('count', 'At most 10 files (ours)', ['REFERENCE_FILES_MAX'], (service) => {
      requireOurs(service);
      const many = Array.from({ length: 11 }, (_, index) => file(`${index}.wav`, wav));
      return refuse(service, many);
    }),
    aboutFiles(
      'size',
      'Each file has at most 10 MB: 400 for one byte more',
      ['REFERENCE_FILE_MAX_BYTES'],
      (service) => refuse(service, [file('large.wav', Buffer.alloc(10 * 1024 * 1024 + 1))]),
    ),
    aboutFiles(
      'length',
      'Each file has half a second to 15 minutes of sound (ours)',
      ['REFERENCE_SECONDS_RANGE'],
      (service) => {
        requireOurs(service);
        return refuse(service, [file('short.wav', recording(140, 0.49))]);
      },
    ),
    aboutFiles(
      'extension',
      `The extension is ${EXTENSIONS.join(', ')}: 400 for another, or none`,
      [],
      async (service) => {
        for (const name of ['voice.txt', 'voice', 'wav', 'voice.wav.exe']) {
          await refuse(service, [file(name, wav)]);
        }
      },
    ),
    aboutFiles(
      'content',
      'The type of a file is that of its content: text is 400 under any name',
      [],
      (service) =>
        refuse(
          service,
          EXTENSIONS.slice(0, 9).map((one) => file(`voice.${one.toUpperCase()}`, TEXT_BYTES)),
        ),
    ),
  ];
}

const TEXT_BYTES = Buffer.from('This is only a text. '.repeat(100));

function aboutFiles(
  id: string,
  what: string,
  limits: readonly string[],
  check: Behaviour['check'],
): Behaviour {
  const covers = ['VoiceUpload.audioFiles', 'VoiceUpload.name', ...limits];
  return {
    id: `voices.create.audioFiles.${id}`,
    section: 'voices',
    on: CREATE,
    what,
    covers,
    check,
  };
}

function file(fileName: string, value: Uint8Array): FormPart {
  return { name: 'audioFiles', fileName, value };
}

async function refuse(service: ServiceUnderTest, sent: readonly FormPart[]): Promise<void> {
  const answer = await send(service, [{ name: 'name', value: 'Conformance' }, ...sent]);
  claimRefused(answer, 400, 'ERR_INVALID_REQUEST', service);
  claimNames(answer, 'audioFiles', service);
}

function use(): readonly Behaviour[] {
  return [
    {
      id: 'voices.create.free',
      section: 'errors',
      on: CREATE,
      what: 'Neither a voice that is refused nor one that is made costs anything (ours)',
      spends: true,
      async check(service) {
        requireOurs(service);
        const before = await creditsOf(service);
        claimStatus(await send(service, formWith({ name: undefined })), 400);
        await withVoice(service, GOOD, () => undefined);
        assert.equal(await creditsOf(service), before);
      },
    },
    {
      id: 'voices.create.personal',
      section: 'voices',
      on: CREATE,
      what: 'A voice is listed as personal and spoken with for its account, and not there for another',
      covers: ['Voice.isPersonal', 'VoiceListQuery.includePersonal', 'ERR_VOICE_NOT_FOUND'],
      spends: true,
      check: (service) =>
        withVoice(service, GOOD, (voice) => claimPersonal(service, voice['voiceId'])),
    },
  ];
}

async function claimPersonal(service: ServiceUnderTest, voiceId: unknown): Promise<void> {
  assert.ok((await listed(service, true)).includes(voiceId));
  assert.ok(!(await listed(service, false)).includes(voiceId));
  const body = { text: TEXT, voiceId };
  claimAudio(await service.ask(SPEECH, { body }));
  if (service.otherKey === undefined) return;
  assert.ok(!(await listed(service, true, service.otherKey)).includes(voiceId));
  const headers = { Authorization: `Bearer ${service.otherKey}` };
  claimRefused(await service.ask(SPEECH, { body, headers }), 404, 'ERR_VOICE_NOT_FOUND', service);
}

async function listed(
  service: ServiceUnderTest,
  includePersonal: boolean,
  key?: string,
): Promise<readonly unknown[]> {
  const headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
  const query = { pageSize: 100, includePersonal };
  const { items } = Object((await service.ask(LIST, { query, headers })).json());
  return items.map((item: unknown) => at(item, 'voiceId'));
}

function deletion(): readonly Behaviour[] {
  return [
    deletes('v1', [`${DELETE}/{voiceId}`], ['VoiceDeleted.voiceId'], (service, voiceId) =>
      service.ask(`${DELETE}/${voiceId}`),
    ),
    deletes('v3', [DELETE_V3], ['VoiceDeleted.voiceId'], (service, voiceId) => {
      requireOurs(service);
      return service.ask(DELETE_V3.replace('{voiceId}', voiceId));
    }),
    deletes('old', [CREATE_OLD, DELETE_OLD], ['VoiceDeletion.voiceId'], (service, voiceId) =>
      service.ask(DELETE_OLD, { body: { voiceId } }),
    ),
    {
      id: 'voices.delete.old.refuses',
      section: 'versions',
      on: DELETE_OLD,
      what: 'A body without either name of the voice is 400, one with `reference_id` is understood',
      covers: ['VoiceDeletion.reference_id'],
      async check(service) {
        const none = await service.ask(DELETE_OLD, { body: {} });
        claimRefused(none, 400, 'ERR_INVALID_REQUEST', service);
        const other = await service.ask(DELETE_OLD, { body: { reference_id: 'unknown' } });
        claimRefused(other, 404, 'ERR_VOICE_NOT_FOUND', service);
      },
    },
    {
      id: 'voices.delete.unknown',
      section: 'errors',
      on: `${DELETE}/{voiceId}`,
      what: '404: a voice that is missing, or not the account’s own, as public ones are',
      covers: ['ERR_VOICE_NOT_FOUND'],
      async check(service) {
        const { items } = Object((await service.ask(LIST)).json());
        for (const id of ['nobody', String(items[0].voiceId)]) {
          const answer = await service.ask(`${DELETE}/${id}`);
          claimRefused(answer, 404, 'ERR_VOICE_NOT_FOUND', service);
        }
      },
    },
  ];
}

type Ask = (service: ServiceUnderTest, voiceId: string) => ReturnType<ServiceUnderTest['ask']>;

/** Makes a voice, by the older path where that is named, and deletes it. */
function deletes(
  id: string,
  on: readonly string[],
  covers: readonly string[],
  ask: Ask,
): Behaviour {
  return {
    id: `voices.delete.${id}`,
    section: id === 'v1' ? 'voices' : 'versions',
    on: on.join(', '),
    what: 'A voice that was deleted is gone; the answer has its `voiceId`',
    covers,
    spends: true,
    async check(service) {
      const made = await send(service, GOOD, on.includes(CREATE_OLD) ? CREATE_OLD : CREATE);
      claimStatus(made, 200);
      const voiceId = String(at(made.json(), 'voiceId'));
      const answer = await ask(service, voiceId);
      claimStatus(answer, 200);
      assert.equal(at(answer.json(), 'voiceId'), voiceId);
      const gone = await service.ask(`${LIST}/${voiceId}`);
      claimRefused(gone, 404, 'ERR_VOICE_NOT_FOUND', service);
    },
  };
}

function requireOurs({ isOurs }: ServiceUnderTest): void {
  if (!isOurs) throw new NotApplicable('the spec leaves it open');
}
