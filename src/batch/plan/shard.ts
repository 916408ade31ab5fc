import { usageFailure } from '../../errors/failure.ts';

/**
 * A share of the items of a batch: every `total`-th item, starting with item number `index`. Item numbers start at 1.
 */
export interface Shard {
  readonly index: number;
  readonly total: number;
}

/**
 * Parses the value of `--shard I/N`.
 * @throws Failure of kind `usage`
 */
export function parseShard(given: string): Shard {
  const [, index, total] = /^(\d{1,9})\/(\d{1,9})$/.exec(given) ?? [];
  const shard = { index: Number(index), total: Number(total) };
  if (index !== undefined && shard.index >= 1 && shard.index <= shard.total) return shard;
  throw usageFailure(
    `--shard is "${given}"; it takes I/N, the I-th of N shards, such as 1/4`,
    'I is a number from 1 to N.',
  );
}

/** Returns whether an item belongs to a shard. @param item number of the item, from 1 */
export function isInShard({ index, total }: Shard, item: number): boolean {
  return (item - 1) % total === index - 1;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the shard from environment variables, as Slurm arrays and GitLab jobs set them. Also returns the name of the
 * variable that contains the index. Returns undefined if no such variable is set.
 * @throws Failure of kind `usage` if the index is not valid, or the total is missing or does not match
 */
export function shardOfEnvironment(
  env: Environment,
): (Shard & { readonly variable: string }) | undefined {
  for (const system of SYSTEMS) {
    const index = env[system.index];
    if (index === undefined || index === '') continue;
    const { index: variable, requirement } = system;
    const shard = system.read(env, index);
    if (shard === undefined || !isShard(shard)) {
      throw usageFailure(
        `${variable} is "${index}", which is not the index of a shard; it requires ${requirement}, and must not exceed the number of shards`,
        'Set the shard with --shard I/N; --shard 1/1 speaks all items.',
      );
    }
    return { ...shard, variable };
  }
  return undefined;
}

interface System {
  readonly index: string;
  // Other variables that must be set, for the error message.
  readonly requirement: string;
  read(env: Environment, index: string): Shard | undefined;
}

const SYSTEMS: readonly System[] = [
  {
    index: 'SLURM_ARRAY_TASK_ID',
    requirement: 'an array without gaps, such as --array=1-8, and SLURM_ARRAY_TASK_COUNT',
    read: readSlurm,
  },
  // Kubernetes sets only the index; the recipe in docs/batch.md passes the number of completions.
  counted('JOB_COMPLETION_INDEX', 'JOB_COMPLETIONS', 0),
  counted('CI_NODE_INDEX', 'CI_NODE_TOTAL', 1),
  counted('CIRCLE_NODE_INDEX', 'CIRCLE_NODE_TOTAL', 0),
  counted('BUILDKITE_PARALLEL_JOB', 'BUILDKITE_PARALLEL_JOB_COUNT', 0),
  counted('CLOUD_RUN_TASK_INDEX', 'CLOUD_RUN_TASK_COUNT', 0),
];

// A system that sets a shard index, which starts at `first`, and a total.
function counted(index: string, total: string, first: 0 | 1): System {
  return {
    index,
    requirement: total,
    read: (env, given) => ({
      index: wholeNumber(given) - first + 1,
      total: wholeNumber(env[total]),
    }),
  };
}

// Slurm's index starts at any number and increases by a fixed step.
function readSlurm(env: Environment, given: string): Shard | undefined {
  const total = wholeNumber(env['SLURM_ARRAY_TASK_COUNT']);
  const least = wholeNumber(env['SLURM_ARRAY_TASK_MIN'] ?? '0');
  const step = wholeNumber(env['SLURM_ARRAY_TASK_STEP'] ?? '1');
  const most = env['SLURM_ARRAY_TASK_MAX'];
  // An array such as 1,3,7 has gaps that no variable describes.
  if (most !== undefined && (wholeNumber(most) - least) / step + 1 !== total) return undefined;
  return { index: (wholeNumber(given) - least) / step + 1, total };
}

function isShard({ index, total }: Shard): boolean {
  return Number.isInteger(index) && Number.isInteger(total) && index >= 1 && index <= total;
}

function wholeNumber(text: string | undefined): number {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : NaN;
}
