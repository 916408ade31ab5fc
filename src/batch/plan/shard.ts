import type { Failure } from '../../errors/failure.ts';
import { usageFailure } from '../../errors/failure.ts';

/**
 * A share of the items of a batch: every `total`-th item, starting with item number `index`. Item numbers start at 1.
 */
export interface Shard {
  readonly index: number;
  readonly total: number;
}

/** `auto` reads the shard from the environment. */
export type ShardChoice = Shard | 'auto';

/**
 * Parses the value of `--shard`: `I/N` or `auto`.
 * @throws Failure of kind `usage`
 */
export function parseShard(given: string): ShardChoice {
  if (given === 'auto') return given;
  const [, index, total] = /^(\d{1,9})\/(\d{1,9})$/.exec(given) ?? [];
  const shard = { index: Number(index), total: Number(total) };
  if (index !== undefined && shard.index >= 1 && shard.index <= shard.total) return shard;
  throw usageFailure(
    `--shard is "${given}"; it takes auto, or I/N, the I-th of N shards, such as 1/4`,
    'I is a number from 1 to N.',
  );
}

/** Returns whether an item belongs to a shard. @param item number of the item, from 1 */
export function isInShard({ index, total }: Shard, item: number): boolean {
  return (item - 1) % total === index - 1;
}

type ShardEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the shard that the user chose, or that the environment variables of Kubernetes, CircleCI, Buildkite or Cloud
 * Run name. Undefined if the batch is not split. `variable` is the environment variable with the index.
 * @throws Failure of kind `usage` if the variables name no valid shard, or if the user must choose: the variables of
 * Slurm may describe only the tasks that run again, and GitLab sets its variables for each job of a matrix, too
 */
export function chosenShard(
  env: ShardEnvironment,
  choice: ShardChoice | undefined,
): (Shard & { readonly variable?: string }) | undefined {
  if (typeof choice === 'object') return choice;
  for (const system of SYSTEMS) {
    const index = env[system.index];
    if (index === undefined || index === '') continue;
    const shard = {
      index: wholeNumber(index) - system.first + 1,
      total: wholeNumber(env[system.total]),
    };
    if (system.requiresChoice === 'number') throw unknownTotal(system, index);
    if (!isShard(shard)) throw noShard(system, index);
    if (system.requiresChoice === 'auto' && choice === undefined && shard.total > 1) {
      throw ambiguous(system, index, shard);
    }
    return { ...shard, variable: system.index };
  }
  if (choice === undefined) return undefined;
  throw usageFailure(
    '--shard auto found no shard in the environment variables',
    `Name the shard with --shard I/N. --shard auto reads ${SYSTEMS.filter(
      ({ requiresChoice }) => requiresChoice !== 'number',
    )
      .map(({ index }) => index)
      .join(', ')}.`,
  );
}

interface JobScheduler {
  /** Environment variable with the number of the shard. */
  readonly index: string;
  /** Environment variable with the number of shards. */
  readonly total: string;
  /** Lowest value of `index`. */
  readonly first: 0 | 1;
  /**
   * Set if the variables do not prove that the batch is split. `auto`: the user must confirm them. `number`: the user
   * must name the shard.
   */
  readonly requiresChoice?: 'auto' | 'number';
}

const SYSTEMS: readonly JobScheduler[] = [
  {
    index: 'SLURM_ARRAY_TASK_ID',
    total: 'SLURM_ARRAY_TASK_COUNT',
    first: 1,
    requiresChoice: 'number',
  },
  // Kubernetes sets only the index; the recipe in docs/batch.md passes the number of completions.
  { index: 'JOB_COMPLETION_INDEX', total: 'JOB_COMPLETIONS', first: 0 },
  { index: 'CI_NODE_INDEX', total: 'CI_NODE_TOTAL', first: 1, requiresChoice: 'auto' },
  { index: 'CIRCLE_NODE_INDEX', total: 'CIRCLE_NODE_TOTAL', first: 0 },
  { index: 'BUILDKITE_PARALLEL_JOB', total: 'BUILDKITE_PARALLEL_JOB_COUNT', first: 0 },
  { index: 'CLOUD_RUN_TASK_INDEX', total: 'CLOUD_RUN_TASK_COUNT', first: 0 },
];

const ALL = '--shard 1/1 speaks all items.';

function unknownTotal({ index: variable }: JobScheduler, index: string): Failure {
  return usageFailure(
    `${variable} is "${index}", but the number of shards is unknown: if a part of a Slurm array runs again, SLURM_ARRAY_TASK_COUNT counts only that part`,
    `Name the shard, for --array=1-8: --shard "$${variable}/8". ${ALL}`,
  );
}

function noShard({ index: variable, total }: JobScheduler, index: string): Failure {
  return usageFailure(
    `${variable} is "${index}", which is not the index of a shard; it requires ${total}, and must not exceed the number of shards`,
    `Set the shard with --shard I/N. ${ALL}`,
  );
}

function ambiguous({ index: variable }: JobScheduler, index: string, shard: Shard): Failure {
  return usageFailure(
    `${variable} is "${index}": GitLab sets it for \`parallel: N\` and for each job of a \`parallel: matrix\``,
    `--shard auto speaks shard ${shard.index} of ${shard.total}. ${ALL}`,
  );
}

function isShard({ index, total }: Shard): boolean {
  return Number.isInteger(index) && Number.isInteger(total) && index >= 1 && index <= total;
}

function wholeNumber(text: string | undefined): number {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : NaN;
}
