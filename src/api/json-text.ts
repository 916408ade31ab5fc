/** Deeper than any answer of the service, and shallow enough for everything that walks over it. */
const DEEPEST = 64;

/** The value of a JSON text; `undefined` when it is none, or nested beyond reason. */
export function parseJson(text: string): unknown {
  if (hasManyBrackets(text) && isTooDeep(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** Most answers have a few: there is nothing to count in them. */
function hasManyBrackets(text: string): boolean {
  let left = DEEPEST;
  for (const bracket of ['[', '{']) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      if (left === 0) return true;
      left -= 1;
    }
  }
  return false;
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
