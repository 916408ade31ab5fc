/**
 * A matcher for the path of a request, as it is written in the request: `*` is any part of a segment,
 * `?` one character of it, `**` any number of segments; everything else is itself.
 */
export function pathMatcher(glob: string): (path: string) => boolean {
  const source = glob.replaceAll(/\*{2,}|[*?]|[^*?]+/g, (part) => WILDCARDS.get(part) ?? any(part));
  const pattern = new RegExp(`^${source}$`, 's');
  return (path) => pattern.test(path);
}

const WILDCARDS = new Map([
  ['*', '[^/]*'],
  ['?', '[^/]'],
]);

function any(part: string): string {
  return part.startsWith('**') ? '.*' : part.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}
