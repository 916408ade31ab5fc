/** A count with its noun, such as `1 character` and `2 characters`; `s` is all that a plural gets. */
export function counted(count: number | string, noun: string): string {
  return `${count} ${noun}${`${count}` === '1' ? '' : 's'}`;
}
