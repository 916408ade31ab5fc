import type { CommandDefinition } from '../../src/cli/command.ts';
import { engineDeps } from '../shared/engine-list.ts';
import { startProgress } from '../../src/cli/render/progress.ts';
import { counted, display } from '../../src/text/display.ts';
import type { RuleReport } from '../../src/engines/conformance.ts';

/** The result of the test of an engine. */
export interface EngineTestDocument {
  readonly name: string;
  /** Whether no rule failed. */
  readonly ok: boolean;
  readonly passed: number;
  readonly warnings: number;
  readonly failed: number;
  readonly skipped: number;
  readonly rules: readonly RuleReport[];
}

export const definition: CommandDefinition<object, EngineTestDocument> = {
  configure(command) {
    command
      .description(
        'Starts an added engine and tests it against each rule of the engine protocol ' +
          '(docs/engines.md). Every voice speaks a sentence. Shows what to mend, and exits with 2 ' +
          'when the engine breaks a rule; a warning is not a failure.',
      )
      .argument('<name>', 'name of the engine');
  },
  async run(context, { args: [name = ''] }) {
    const { findEngine } = await import('../../src/engines/engines.ts');
    const { testEngine } = await import('../../src/engines/inspector.ts');
    const engine = await findEngine(name, await engineDeps(context));
    const progress = startProgress(context.io, context.system.clock, 'starting the engine');
    const rules = await testEngine(engine, context, (step) =>
      progress.update(display(step)),
    ).finally(() => progress.stop());
    const count = (wanted: string): number =>
      rules.filter(({ status }) => status === wanted).length;
    const failed = count('failed');
    const counts = { passed: count('passed'), warnings: count('warning'), failed };
    const { wrappedRows } = await import('../../src/cli/render/table.ts');
    return {
      data: { name, ok: failed === 0, ...counts, skipped: count('skipped'), rules },
      human: (style) =>
        wrappedRows(
          ['RESULT', 'RULE', 'FOUND'],
          rules.map(({ found, mend, rule, status, title }) => ({
            cells: [status, rule],
            text: `${title}: ${found}`,
            hint: mend ?? undefined,
            paint: style.paint[COLORS[status]],
          })),
          style,
        ),
      notice: `${counts.passed} passed, ${counted(counts.warnings, 'warning')}, ${failed} failed`,
      exit: failed === 0 ? 'ok' : 'usage',
    };
  },
};

const COLORS = { passed: 'green', warning: 'yellow', failed: 'red', skipped: 'dim' } as const;
