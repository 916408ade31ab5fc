import fc from 'fast-check';
import { describe, it } from 'vitest';
import { newBook } from '../../billing/book.ts';
import { steps } from '../../billing/arbitrary-steps.ts';
import { finish } from '../../billing/commands.ts';
import { createSimulation } from '../../billing/simulation.ts';

const IS_FULL_SIZE = process.env['FOLEY_TEST_SIZE'] === 'full';
const RUNS = IS_FULL_SIZE ? 5_000 : 200;
const MOST_STEPS = IS_FULL_SIZE ? 20 : 12;

describe('client and service together', () => {
  it('lose nothing that was paid for, and charge nothing twice, whatever happens', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.commands(steps, { maxCommands: MOST_STEPS }),
        fc.boolean(),
        async (commands, isBlind) => {
          const simulation = await createSimulation(isBlind);
          try {
            const book = newBook();
            const real = { simulation, runs: [], observations: new Map() };
            await fc.asyncModelRun(() => ({ model: book, real }), commands);
            await finish.run(book, real);
          } finally {
            await simulation.end();
          }
        },
      ),
      { numRuns: RUNS },
    );
  }, 3_600_000);
});
