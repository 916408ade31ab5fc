import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** File to which every skipped test adds a line. */
    skipNotes: string;
  }
}

/** Global set-up of the test run: collects what was skipped and says so when everything is done. */
export function setup(project: TestProject): () => void {
  const folder = mkdtempSync(path.join(tmpdir(), 'foley-skips-'));
  const notes = path.join(folder, 'skips.jsonl');
  writeFileSync(notes, '');
  project.provide('skipNotes', notes);
  return () => {
    const summary = summaryOf(readFileSync(notes, 'utf8'));
    rmSync(folder, { recursive: true });
    if (summary !== '') {
      process.stderr.write(`\n${summary}`);
    }
  };
}

/** One line for each missing tool, from the notes of `requireTool` (a JSON object a line). */
export function summaryOf(notes: string): string {
  const counts = new Map<string, number>();
  for (const line of notes.split('\n').filter((text) => text !== '')) {
    const note: unknown = JSON.parse(line);
    if (typeof note === 'object' && note !== null && 'tool' in note && 'reason' in note) {
      const title = `${String(note.tool)} is missing: ${String(note.reason)}`;
      counts.set(title, (counts.get(title) ?? 0) + 1);
    }
  }
  return [...counts]
    .map(([title, count]) => `Skipped ${count} ${count === 1 ? 'test' : 'tests'}: ${title}\n`)
    .join('');
}
