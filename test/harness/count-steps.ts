import { vi } from 'vitest';

/** Counts the characters that regular expressions look at, at least; the other work is proportional to the text. */
export function countSteps(work: () => void): number {
  const { exec } = RegExp.prototype;
  let steps = 0;
  const spy = vi.spyOn(RegExp.prototype, 'exec').mockImplementation(function (
    this: RegExp,
    text: string,
  ) {
    const from = this.global || this.sticky ? this.lastIndex : 0;
    const match = exec.call(this, text);
    steps += match === null || !this.global ? text.length - from : this.lastIndex - from;
    return match;
  });
  try {
    work();
  } finally {
    spy.mockRestore();
  }
  return steps;
}
