/** Deeper than any answer of the service, and shallow enough for everything that walks over it. */
const DEEPEST = 64;

/** The value of a JSON text; `undefined` when it is none, or nested beyond reason. */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (inString) {
      if (character === '\\') at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') {
      inString = true;
    } else if (character === '[' || character === '{') {
      depth += 1;
      if (depth > DEEPEST) return true;
    } else if (character === ']' || character === '}') {
      depth -= 1;
    }
  }
  return false;
}
