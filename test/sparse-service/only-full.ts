import path from 'node:path';
import { beforeEach } from 'vitest';

/**
 * Skips the tests of the project `sparse` that cannot pass against a service which answers with nothing but the fields
 * that the API names. Each is listed with its reason. All of them run against the full services, in the other projects.
 */
beforeEach(({ skip, task: { file, fullTestName } }) => {
  const name = `${path.relative('test', file.filepath)} > ${fullTestName}`;
  for (const [reason, tests] of Object.entries(ONLY_FULL)) {
    skip(
      tests.some((listed) => name.startsWith(listed)),
      reason,
    );
  }
});

const ONLY_FULL: Readonly<Record<string, readonly string[]>> = {
  'compares a response with the body that the service sent, which has other fields here': [
    'check/faults/statuses.test.ts > 402, out of credits',
    'check/faults/statuses.test.ts > rejected > 4',
    'check/jobs/outcomes.test.ts > a job that ends > is printed as one document',
    'check/surfaces/voices.test.ts > voices list --api compat > prints what the service said',
    'check/surfaces/voices.test.ts > voices list --api compat > with --all',
    'check/surfaces/voices.test.ts > voices list --api v1 > with --all',
    'binary/api-terminal.test.ts > on a terminal > events are shown as lines',
    'binary/api.test.ts > the answer goes to stdout as it came > --include',
    'binary/jobs/v1.test.ts > a list > of what is newer asks v1',
    'check/models.test.ts > models get > with --json is its record',
    'check/profile.test.ts > foley profile > --json prints the whole body',
    'binary/voices.test.ts > voices list > with --all is every page',
    'binary/voices.test.ts > voices list > with --json is what the service said',
    'binary/voices/create.test.ts > voices create > with --json is one document',
    'check/voices/delete.test.ts > voices delete --yes > deletes; the answer is',
  ],
  'sends phonemes, which the API has no field for': [
    'check/lexicon-phonemes.test.ts > phonemes of a lexicon > are sent',
    'check/lexicon-phonemes.test.ts > phonemes of a lexicon > are spoken',
    'check/lexicon-phonemes.test.ts > phonemes of a lexicon > are in the requests',
    'check/lexicon-phonemes.test.ts > phonemes of a lexicon > are shown',
    'check/lexicon-phonemes.test.ts > phonemes of a lexicon > are refused if',
    'check/lexicon-phonemes.test.ts > phonemes of a lexicon > let a voice',
  ],
  'shows fields that the API does not name': [
    'binary/media-client/cuts.test.ts > an input that the result contains only in part > is a warning of',
    'check/batch/captions.test.ts > an interrupted stream is lost with its cost',
    'check/batch/failures.test.ts > the failure of one item > decides the exit code',
    'check/batch/failures.test.ts > the failure of one item > does not affect the others',
    'check/batch/pauses.test.ts > the cost of an item with pauses > a part that',
    'check/batch/pauses.test.ts > the cost of an item with pauses > an interrupted part with word times',
    'check/faults/aligned.test.ts > an incomplete stream publishes nothing and spools the billed audio',
    'check/jobs/outcomes.test.ts > a job that ends > with ',
    'check/jobs/results.test.ts > a link to a store that has expired > of a segment',
    'check/jobs/results.test.ts > wait prints the credits of a job',
    'check/media-client/faults.test.ts > dub create > waits, saves',
    'check/media-client/faults.test.ts > image create > waits, saves',
    'check/media-client/faults.test.ts > lipsync create > waits, saves',
    'check/media-client/faults.test.ts > lipsync create, without a key > shows the billed duration',
    'check/media-client/faults.test.ts > video create > waits, saves',
    'check/media-client/faults.test.ts > video create, with errors > a deleted result',
    'check/media-client/faults.test.ts > video create, with errors > a job that failed',
    'check/media-client/interrupted.test.ts > foley recover of a create without a response > finds the only',
    'check/media-client/interrupted.test.ts > video create > loses nothing when killed',
    'binary/jobs/terminal.test.ts > waiting on a terminal > for one long job shows how much',
    'binary/jobs/terminal.test.ts > waiting on a terminal > for several shows one table',
    'binary/jobs/terminal.test.ts > waiting on a terminal > for several, and for a job that is being created, shows it too',
    'check/batch/pauses.test.ts > the cost of an item with pauses > --max-credits also counts a lost',
    'check/media-client/named-at-creation.test.ts > a create response that has only the id of the job > can have the id in the Location',
    'check/media-client/named-at-creation.test.ts > what a create response reports > is reported when the job has ended',
    'binary/media-client/terminal.test.ts > a wait shows how far the job is',
    'check/profile.test.ts > foley profile > hostile strings',
    'check/profile.test.ts > foley profile > the query of a webhook',
    'binary/voices/design.test.ts > design create > is a table on a terminal',
    'binary/voices/design.test.ts > design create > sends the request of the spec',
    'binary/voices/design.test.ts > design create > with --output-dir fetches every preview',
  ],
  'sends a request that the API does not describe, on purpose': [
    'check/api-body.test.ts > fields > of a GET are its query',
    'binary/api.test.ts > what is asked again > a free POST neither',
  ],
  'has a journal that names the address of its service': ['check/recover-old-journals.test.ts'],
};
