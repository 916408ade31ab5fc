import type { ClassifiedItem } from '../../src/batch/run/classify.ts';
import { describeBatch } from '../shared/batch/dry-run.ts';
import type { Context } from '../../src/cli/command.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import { table } from '../../src/cli/render/table.ts';
import type { PlannedText } from '../../src/script/plan-lines.ts';
import type { PreparedScript } from './prepare.ts';

/** Prints what `foley script` would do with each line of the script, and the cost in credits (`--dry-run`). */
export async function describeScript(
  context: Context,
  script: PreparedScript,
): Promise<CommandResult> {
  const { batch, plan } = script;
  if (context.globals.json === true) return describeBatch(context, batch);
  const classified = new Map<string, DryRunItem>();
  const result = await describeBatch(context, batch, async (one, credits, isReused) => {
    const isSpoken = one.decision.kind === 'speak';
    const cost = isSpoken ? (credits === undefined ? '?' : String(credits)) : '0';
    classified.set(one.item.output, { one, cost, isReused });
  });
  if (context.globals.quiet === true) return result;
  const rows = plan.map((text, index) => {
    const known = classified.get(text.item.output);
    const first = plan.findIndex(({ item }) => item === text.item);
    const isShared = first !== index;
    return {
      line: String(text.line.number),
      why: isShared ? `same as line ${plan[first]?.line.number ?? ''}` : reasonOf(known),
      cost: isShared ? '0' : (known?.cost ?? ''),
      text,
    };
  });
  const human: CommandResult['human'] = (style) =>
    `${table(rows, COLUMNS, style)}\n${result.human?.(style) ?? ''}`;
  return { ...result, human };
}

interface DryRunItem {
  readonly one: ClassifiedItem;
  readonly cost: string;
  readonly isReused: boolean;
}

interface DryRunRow {
  readonly line: string;
  readonly why: string;
  readonly cost: string;
  readonly text: PlannedText;
}

const COLUMNS = [
  { title: 'LINE', value: ({ line }: DryRunRow) => line },
  { title: 'SPEAKER', value: ({ text }: DryRunRow) => text.speaker },
  { title: 'WHAT', value: ({ why }: DryRunRow) => why },
  { title: 'CHARACTERS', value: ({ text }: DryRunRow) => String(text.item.characters) },
  { title: 'CREDITS', value: ({ cost }: DryRunRow) => cost },
  { title: 'TEXT', value: ({ text }: DryRunRow) => text.item.order.text },
];

function reasonOf(item: DryRunItem | undefined): string {
  if (item === undefined) return '';
  if (item.isReused) return 'reuse: paid for';
  const { decision } = item.one;
  switch (decision.kind) {
    case 'speak':
      if (decision.isAgain) return 'speak: again';
      return decision.status === undefined ? 'speak: new or changed' : 'speak: interrupted';
    case 'fetch':
    case 'share':
      return 'fetch: paid for';
    case 'reuse':
      return 'reuse: paid for';
    case 'skip':
      return 'unchanged';
    case 'ended':
      return 'failed before: --retry-failed';
  }
}
