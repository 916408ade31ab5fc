import { version } from '../../package.json';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import { findTarget } from '../../src/cli/connect.ts';
import type { Target } from '../../src/config/target.ts';
import { counted } from '../../src/text/display.ts';
import {
  accountsCheck,
  foldersCheck,
  recordsCheck,
  settingsCheck,
  enginesCheck,
  nodeCheck,
  variablesCheck,
  playersCheck,
  proxyCheck,
  problemOf,
} from './checks.ts';
import type { Check, Finding } from './checks.ts';
import { embeddedCheck, targetCheck } from './service-checks.ts';

const CHECKS: readonly Check[] = [
  nodeCheck,
  variablesCheck,
  settingsCheck,
  accountsCheck,
  foldersCheck,
  recordsCheck,
  embeddedCheck,
  enginesCheck,
  proxyCheck,
  targetCheck,
  playersCheck,
];

interface FindingRow extends Pick<Finding, 'state' | 'text'> {
  readonly check: string;
  /** What to do. */
  readonly hint: string | null;
}

export interface DoctorDocument {
  /** Whether nothing must be fixed. */
  readonly ok: boolean;
  /** Version of foley. */
  readonly version: string;
  /** Version of Node.js. */
  readonly node: string;
  readonly checks: readonly FindingRow[];
}

export const definition: CommandDefinition<object, DoctorDocument> = {
  configure(command) {
    command.description(
      'Checks this installation: Node.js, files and permissions, settings, the embedded service, the ' +
        'hosted service and its key, proxies and players. Exits with 2 when something must be fixed.',
    );
  },
  async run(context) {
    const rows = await lookAtAll(context);
    const problems = rows.filter(({ state }) => state === 'problem').length;
    const warnings = rows.filter(({ state }) => state === 'warning').length;
    const { wrappedRows } = await import('../../src/cli/render/table.ts');
    return {
      data: { ok: problems === 0, version, node: process.versions.node, checks: rows },
      human: (style) =>
        wrappedRows(
          ['STATE', 'CHECK', 'FOUND'],
          rows.map(({ check, hint, state, text }) => ({
            cells: [state, check],
            text,
            hint: hint ?? undefined,
            paint: style.paint[COLORS[state]],
          })),
          style,
        ),
      notice: summaryOf(problems, warnings),
      exit: problems === 0 ? 'ok' : 'usage',
    };
  },
};

async function lookAtAll(context: Context): Promise<FindingRow[]> {
  const rows: FindingRow[] = [];
  let target: Promise<Target> | undefined;
  const shared = { target: () => (target ??= findTarget(context)) };
  for (const { name, run } of CHECKS) {
    context.signal.throwIfAborted();
    const findings = await run(context, shared).catch((error: unknown) => [problemOf(error)]);
    for (const { hint = null, state, text } of findings) {
      rows.push({ check: name, state, text, hint });
    }
  }
  return rows;
}

function summaryOf(problems: number, warnings: number): string {
  if (problems + warnings === 0) return 'no problems found';
  return [
    ...(problems === 0 ? [] : [counted(problems, 'problem')]),
    ...(warnings === 0 ? [] : [counted(warnings, 'warning')]),
  ].join(' and ');
}

const COLORS = { ok: 'green', warning: 'yellow', problem: 'red' } as const;
