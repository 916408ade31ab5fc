import { vi } from 'vitest';

/**
 * Counts the characters that regular expressions look at, at least; the other work is proportional to the text. A
 * pattern that fails at the place it is bound to counts as one.
 */
export function countSteps(work: () => void): number {
  const { exec } = RegExp.prototype;
  let steps = 0;
  const spy = vi.spyOn(RegExp.prototype, 'exec').mockImplementation(function (
    this: RegExp,
    text: string,
  ) {
    const from = this.global || this.sticky ? this.lastIndex : 0;
    const match = exec.call(this, text);
    const isAnchored = this.sticky || (this.source.startsWith('^') && !this.multiline);
    if (match !== null) steps += match.index + match[0].length - from;
    else steps += isAnchored ? 1 : text.length - from;
    return match;
  });
  try {
    work();
  } finally {
    spy.mockRestore();
  }
  return steps;
}
