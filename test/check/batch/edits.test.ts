import path from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { drawn, underSeed } from '../../harness/seed.ts';
import { filesOf, snapshot } from '../../harness/snapshot.ts';
import type { BatchSandbox } from '../../binary/batch/batch-sandbox.ts';
import { batchSandbox } from '../../binary/batch/batch-sandbox.ts';

const ITEMS = 300;
const TURNS = 6;
const TIMEOUT_MS = 900_000;
const BATCH = ['--jsonl', 'list.jsonl', '--output-dir', 'audio', '--format', 'wav', '-j', '8'];

interface Line {
  readonly text: string;
  readonly output: string;
}

type List = readonly Line[];

/** One edit of a list; its places are modulo the length. */
const edit = fc.record({
  kind: fc.constantFrom('insert', 'delete', 'move', 'rename', 'exchange', 'restore'),
  from: fc.nat(10_000),
  to: fc.nat(10_000),
});
const edits = fc.array(edit, { minLength: 10, maxLength: 60 });
type Edit = ReturnType<typeof edits.generate>['value'][number];

/** Lists that reuse earlier texts and outputs. */
class EditedList {
  lines: List = Array.from({ length: ITEMS }, (_, at) => this.#newLine(at));
  readonly #removed: string[] = [];
  #count = ITEMS;

  apply({ from, kind, to }: Edit): void {
    const lines = [...this.lines];
    const [a, b] = [from % lines.length, to % lines.length];
    const [one, other] = [lines[a], lines[b]];
    if (one === undefined || other === undefined) return;
    if (kind === 'insert') lines.splice(b, 0, this.#newLine(this.#count++));
    if (kind === 'restore') {
      const text = this.#removed.shift();
      if (text !== undefined) lines.splice(b, 0, { ...this.#newLine(this.#count++), text });
    }
    if (kind === 'delete') this.#removed.push(...lines.splice(a, 1).map(({ text }) => text));
    if (kind === 'move') lines.splice(b, 0, ...lines.splice(a, 1));
    if (kind === 'rename') lines[a] = { ...one, output: this.#newLine(this.#count++).output };
    if (kind === 'exchange') {
      lines[a] = { ...one, output: other.output };
      lines[b] = { ...other, output: one.output };
    }
    this.lines = lines;
  }

  #newLine(number: number): Line {
    return { text: `Take ${number}.`, output: `${number}.wav` };
  }
}

/** Speaks a list, and checks that each text keeps its audio and only new texts are billed. */
async function expectSpoken(
  { sandbox, charged, events, read, write }: BatchSandbox,
  lines: List,
  audio: Map<string, Buffer>,
): Promise<void> {
  await write('list.jsonl', lines.map((line) => JSON.stringify(line)).join('\n'));
  const paid = await charged();
  const { result, summary } = await events(BATCH, { timeoutMs: TIMEOUT_MS });
  expect(result.code, result.stderr).toBe(0);
  const fresh = lines.filter(({ text }) => !audio.has(text)).map(({ text }) => text);
  expect(await charged()).toBe(paid + fresh.join('').length);
  expect(summary).toMatchObject({ failed: 0, notTried: 0, creditsUsed: fresh.join('').length });
  for (const { output, text } of lines) {
    const spoken = await read(path.join('audio', output));
    expect(spoken.equals(audio.get(text) ?? spoken), `${output}: ${text}`).toBe(true);
    audio.set(text, spoken);
  }
  const again = await events(BATCH, { timeoutMs: TIMEOUT_MS });
  expect(again.summary).toMatchObject({ done: 0, failed: 0, skipped: lines.length });
  expect(await charged()).toBe(paid + fresh.join('').length);
  const names = filesOf(await snapshot(path.join(sandbox.out, 'audio')));
  expect(names).toEqual(expect.arrayContaining(lines.map(({ output }) => output)));
}

test(
  `${ITEMS} items that are inserted, deleted, moved and renamed ${TURNS} times over: only new texts are bought`,
  { timeout: TIMEOUT_MS },
  async () => {
    await underSeed(async (seed) => {
      const sandbox = await batchSandbox({}, [], [], { timeoutMs: TIMEOUT_MS });
      const audio = new Map<string, Buffer>();
      const list = new EditedList();
      await expectSpoken(sandbox, list.lines, audio);
      for (const turn of drawn(edits, TURNS, seed)) {
        for (const one of turn) list.apply(one);
        await expectSpoken(sandbox, list.lines, audio);
      }
      await expectSpoken(sandbox, list.lines.toReversed(), audio);
    });
  },
);
