const TOKEN =
  /[ \t\r\n]*(?:([{}[\],:])|"(?:[\u{20}\u{21}\u{23}-\u{5b}\u{5d}-\u{10ffff}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-]))/uy;

type Expected =
  | 'value'
  | 'value or end'
  | 'key'
  | 'key or end'
  | 'colon'
  | 'comma or end'
  | 'nothing';

/**
 * The line, from 1, of the first place where a text stops being JSON; `undefined` when it is JSON.
 * Of JSON.parse only the words of its message would tell.
 */
export function jsonFaultLine(text: string): number | undefined {
  const offset = faultOffset(text);
  if (offset === undefined) return undefined;
  return text.slice(0, offset).split('\n').length;
}

function faultOffset(text: string): number | undefined {
  const open: string[] = [];
  let expected: Expected = 'value';
  let at = 0;
  while (at < text.length) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    const begin = skipSpace(text, at);
    if (match === null) {
      return begin === text.length && expected === 'nothing' ? undefined : begin;
    }
    const next: Expected | undefined = step(expected, match[1] ?? kindOf(text[begin]), open);
    if (next === undefined) return begin;
    expected = next;
    at = TOKEN.lastIndex;
  }
  return expected === 'nothing' ? undefined : text.length;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\r\n'.includes(text[at] ?? '')) at += 1;
  return at;
}

function kindOf(first: string | undefined): string {
  return first === '"' ? 'string' : 'scalar';
}

function step(expected: Expected, token: string, open: string[]): Expected | undefined {
  const inside = open.at(-1);
  if (token === 'string' && (expected === 'key' || expected === 'key or end')) return 'colon';
  if (expected === 'value' || expected === 'value or end') {
    if (token === 'string' || token === 'scalar') return afterValue(open);
    if (token === '{' || token === '[') {
      open.push(token);
      return token === '{' ? 'key or end' : 'value or end';
    }
  }
  if (token === ':' && expected === 'colon') return 'value';
  if (token === ',' && expected === 'comma or end') return inside === '{' ? 'key' : 'value';
  const ends = expected.endsWith('or end') && token === (inside === '{' ? '}' : ']');
  if (!ends) return undefined;
  open.pop();
  return afterValue(open);
}

function afterValue(open: readonly string[]): Expected {
  return open.length === 0 ? 'nothing' : 'comma or end';
}
