import type { Behaviour } from './behaviour.ts';
import { account } from './behaviours/account.ts';
import { compat } from './behaviours/compat.ts';
import { idempotency } from './behaviours/idempotency.ts';
import { jobFields } from './behaviours/job-fields.ts';
import { jobLists } from './behaviours/job-lists.ts';
import { jobStates } from './behaviours/job-states.ts';
import { jobs } from './behaviours/jobs.ts';
import { limits } from './behaviours/limits.ts';
import { speechBodies } from './behaviours/speech-bodies.ts';
import { speech } from './behaviours/speech.ts';
import { voices } from './behaviours/voices.ts';

/** The spec as a list of behaviours. */
export const BEHAVIOURS: readonly Behaviour[] = [
  ...account,
  ...voices,
  ...speechBodies,
  ...speech,
  ...jobFields,
  ...jobs,
  ...jobLists,
  ...jobStates,
  ...compat,
  ...idempotency,
  ...limits,
];
