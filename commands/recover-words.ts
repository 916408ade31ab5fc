import type { Column } from '../src/cli/table.ts';
import type { Clock } from '../src/effects/clock.ts';
import type { Leftover, Recovered } from '../src/speech/leftovers.ts';
import { mayRun } from '../src/speech/leftovers.ts';
import { costOf } from '../src/speech/long-text/totals.ts';
import { counted } from '../src/text/counted.ts';
import { display } from '../src/text/display.ts';

export function leftoverColumns(clock: Clock): readonly Column<Leftover>[] {
  return [
    { title: 'ID', value: ({ id }) => id, whole: true },
    { title: 'WHAT', value: (leftover) => display(whatItIs(leftover, clock)) },
    { title: 'CREDITS', value: (leftover) => String(factsOf(leftover).creditsUsed ?? 'unknown') },
    { title: 'OUTPUT', value: (leftover) => display(factsOf(leftover).output ?? 'stdout') },
  ];
}

/** One line of `--list --json`. */
export function listedItem(leftover: Leftover, clock: Clock): Record<string, unknown> {
  return {
    id: leftover.id,
    what: whatItIs(leftover, clock),
    running: isRunning(leftover, clock),
    ...factsOf(leftover),
  };
}

/** A command that is alive works on it. */
function isRunning(leftover: Leftover, clock: Clock): boolean {
  switch (leftover.kind) {
    case 'damaged':
      return false;
    case 'text': {
      const { plan, writer } = leftover.left;
      return mayRun({ at: plan.at, writer }, clock);
    }
    case 'audio':
    case 'request':
      return leftover.intent !== undefined && mayRun(leftover.intent, clock);
  }
}

/** What became of one thing, and what the person can do. */
export function recoveredLine(one: Recovered): string {
  const cost = one.creditsUsed === null ? 'unknown cost' : counted(one.creditsUsed, 'credit');
  switch (one.outcome) {
    case 'recovered':
      return display(`${one.id}: recovered as ${one.output}`);
    case 'partial':
      return display(`${one.id}: recovered as ${one.output}, but ${one.problem}`);
    case 'refunded':
      return display(`${one.id}: ${one.problem}; it was refunded`);
    case 'lost':
      return display(
        one.output === null
          ? `${one.id}: lost (${cost}); ${one.problem ?? 'nothing of it was kept'}`
          : `${one.id}: lost (${cost}); the part that arrived is in ${one.output}${one.isReported === true ? `; reported before, \`foley recover --forget ${one.id}\` removes it` : ''}`,
      );
    case 'unknown':
      return display(`${one.id}: nobody can tell whether it was billed. ${howToGoOn(one)}`);
    case 'running':
      return display(`${one.id}: a command that works on it still runs`);
    case 'failed':
      return display(`${one.id}: still there; ${one.problem}`);
    case 'damaged':
      return display(`${one.id}: ${one.problem}; \`foley recover --forget ${one.id}\` removes it`);
  }
}

function howToGoOn({ idempotencyKey, isRealtime, problem }: Recovered): string {
  if (idempotencyKey === null) {
    return (
      problem ?? 'Look with `foley profile` whether credits were used before you run it again.'
    );
  }
  return isRealtime === true
    ? `\`foley live status ${idempotencyKey}\` tells what became of it, and the same text with --request-id ${idempotencyKey} is not billed twice.`
    : `The same command with --idempotency-key ${idempotencyKey} is not billed twice.`;
}

function whatItIs(leftover: Leftover, clock: Clock): string {
  const running = isRunning(leftover, clock) ? ', still running' : '';
  return `${kindOfWork(leftover, running !== '')}${running}`;
}

function kindOfWork(leftover: Leftover, isAlive: boolean): string {
  if (leftover.kind === 'damaged') return `unreadable: ${leftover.paths[0]} (${leftover.holds})`;
  if (leftover.kind === 'text') {
    const { plan, states } = leftover.left;
    const done = Array.from(states.values()).filter(({ state }) => state === 'done').length;
    return `text in parts (${done} of ${plan.parts.length} are here)`;
  }
  if (leftover.kind === 'request') {
    const { jobId } = leftover.intent.facts;
    if (jobId !== undefined) return `job ${jobId}`;
    return isAlive ? 'request' : 'request without a known end';
  }
  const { record } = leftover.entry;
  return record?.complete === true ? 'whole audio' : 'part of audio';
}

export function factsOf(leftover: Leftover): { creditsUsed: number | null; output: string | null } {
  if (leftover.kind === 'damaged') return { creditsUsed: null, output: null };
  if (leftover.kind === 'audio') {
    const { record } = leftover.entry;
    return { creditsUsed: record?.creditsUsed ?? null, output: record?.output ?? null };
  }
  if (leftover.kind === 'text') {
    const { creditsUsed } = costOf(leftover.left);
    return { creditsUsed, output: leftover.left.plan.output };
  }
  const { about, facts } = leftover.intent;
  return { creditsUsed: facts.creditsUsed ?? null, output: about?.output ?? null };
}
