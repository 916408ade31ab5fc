import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chosenShard, isInShard, parseShard } from '../../src/batch/plan/shard.ts';

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
    [{}, undefined, undefined],
    [{ JOB_COMPLETION_INDEX: '0', JOB_COMPLETIONS: '5' }, undefined, [1, 5]],
    [{ JOB_COMPLETION_INDEX: '0', JOB_COMPLETIONS: '5' }, 'auto', [1, 5]],
    [{ CI_NODE_INDEX: '5', CI_NODE_TOTAL: '5' }, 'auto', [5, 5]],
    [{ CI_NODE_INDEX: '1', CI_NODE_TOTAL: '1' }, undefined, [1, 1]],
    [{ CI_NODE_TOTAL: '1' }, undefined, undefined],
    [{ CI_NODE_INDEX: '2', CI_NODE_TOTAL: '5' }, { index: 1, total: 1 }, [1, 1]],
    [{ CIRCLE_NODE_INDEX: '1', CIRCLE_NODE_TOTAL: '2' }, undefined, [2, 2]],
    [{ BUILDKITE_PARALLEL_JOB: '0', BUILDKITE_PARALLEL_JOB_COUNT: '2' }, undefined, [1, 2]],
    [{ CLOUD_RUN_TASK_INDEX: '9', CLOUD_RUN_TASK_COUNT: '10' }, undefined, [10, 10]],
    [{ SLURM_ARRAY_TASK_ID: '3', SLURM_ARRAY_TASK_COUNT: '1' }, { index: 3, total: 4 }, [3, 4]],
  ] as const)('%o with --shard %o is %o', (env, choice, expected) => {
    const found = chosenShard(env, choice);
    expect(found === undefined ? undefined : [found.index, found.total]).toEqual(expected);
  });

  it.each([
    { JOB_COMPLETION_INDEX: '1' },
    { CI_NODE_INDEX: '0', CI_NODE_TOTAL: '2' },
    { CIRCLE_NODE_INDEX: '2', CIRCLE_NODE_TOTAL: '2' },
    { CI_NODE_INDEX: 'x', CI_NODE_TOTAL: '2' },
  ])('%o names no shard and is refused', (env) => {
    expect(() => chosenShard(env, undefined)).toThrow(/is not the index of a shard/);
  });

  it.each([undefined, 'auto'] as const)(
    'is never taken from a Slurm array, of which a part may run again (--shard %s)',
    (choice) => {
      for (const count of ['1', '8']) {
        const env = { SLURM_ARRAY_TASK_ID: '3', SLURM_ARRAY_TASK_COUNT: count };
        expect(() => chosenShard(env, choice)).toThrow(/the number of shards is unknown/);
      }
    },
  );

  it('is taken from GitLab only with --shard auto', () => {
    const env = { CI_NODE_INDEX: '2', CI_NODE_TOTAL: '3' };
    expect(() => chosenShard(env, undefined)).toThrow(/each job of a `parallel: matrix`/);
  });

  it('is missing without variables', () => {
    expect(() => chosenShard({}, 'auto')).toThrow(/found no shard/);
  });
});
