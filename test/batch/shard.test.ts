import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isInShard, parseShard, shardOfEnvironment } from '../../src/batch/plan/shard.ts';

describe('shards', () => {
  it('contain each item of the plan once, and their sizes differ by at most one', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 0, max: 300 }),
        (total, items) => {
          const shards = Array.from({ length: total }, (_, at) =>
            Array.from({ length: items }, (_item, index) => index + 1).filter((item) =>
              isInShard({ index: at + 1, total }, item),
            ),
          );
          expect(shards.flat().toSorted((a, b) => a - b)).toEqual(
            Array.from({ length: items }, (_, index) => index + 1),
          );
          const sizes = shards.map(({ length }) => length);
          expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
        },
      ),
    );
  });

  it.each(['', '1', '0/2', '3/2', '1/0', 'a/b', '1/2/3', '-1/2', '1.5/2'])(
    '%s is refused',
    (given) => {
      expect(() => parseShard(given)).toThrow(/--shard is/);
    },
  );
});

describe('the shard of an environment', () => {
  it.each([
    [{}, undefined],
    [
      {
        SLURM_ARRAY_TASK_ID: '3',
        SLURM_ARRAY_TASK_COUNT: '4',
        SLURM_ARRAY_TASK_MIN: '1',
        SLURM_ARRAY_TASK_MAX: '4',
      },
      [3, 4],
    ],
    [{ SLURM_ARRAY_TASK_ID: '0', SLURM_ARRAY_TASK_COUNT: '4' }, [1, 4]],
    [
      {
        SLURM_ARRAY_TASK_ID: '14',
        SLURM_ARRAY_TASK_COUNT: '3',
        SLURM_ARRAY_TASK_MIN: '10',
        SLURM_ARRAY_TASK_MAX: '14',
        SLURM_ARRAY_TASK_STEP: '2',
      },
      [3, 3],
    ],
    [{ JOB_COMPLETION_INDEX: '0', JOB_COMPLETIONS: '5' }, [1, 5]],
    [{ CI_NODE_INDEX: '5', CI_NODE_TOTAL: '5' }, [5, 5]],
    [{ CI_NODE_TOTAL: '1' }, undefined],
    [{ CIRCLE_NODE_INDEX: '1', CIRCLE_NODE_TOTAL: '2' }, [2, 2]],
    [{ BUILDKITE_PARALLEL_JOB: '0', BUILDKITE_PARALLEL_JOB_COUNT: '2' }, [1, 2]],
    [{ CLOUD_RUN_TASK_INDEX: '9', CLOUD_RUN_TASK_COUNT: '10' }, [10, 10]],
  ])('%o is %o', (env, expected) => {
    const found = shardOfEnvironment(env);
    expect(found === undefined ? undefined : [found.index, found.total]).toEqual(expected);
  });

  it.each([
    {
      SLURM_ARRAY_TASK_ID: '7',
      SLURM_ARRAY_TASK_COUNT: '3',
      SLURM_ARRAY_TASK_MIN: '1',
      SLURM_ARRAY_TASK_MAX: '7',
      SLURM_ARRAY_TASK_STEP: '1',
    },
    { SLURM_ARRAY_TASK_ID: '1' },
    { JOB_COMPLETION_INDEX: '1' },
    { CI_NODE_INDEX: '0', CI_NODE_TOTAL: '2' },
    { CIRCLE_NODE_INDEX: '2', CIRCLE_NODE_TOTAL: '2' },
    { CI_NODE_INDEX: 'x', CI_NODE_TOTAL: '2' },
  ])('%o names no shard and is refused', (env) => {
    expect(() => shardOfEnvironment(env)).toThrow(/is not the index of a shard/);
  });
});
