/** Reads JSON lines: one document a line, every line ended; throws with the number of a bad line. */
export function parseJsonLines(text: string): unknown[] {
  if (text === '') {
    return [];
  }
  if (!text.endsWith('\n')) {
    throw new Error(`The last JSON line is not ended: ${JSON.stringify(text.slice(-80))}`);
  }
  return text
    .slice(0, -1)
    .split('\n')
    .map((line, index) => parseLine(line, index + 1));
}

/** Reads the one document that `--json` prints; throws when there is anything else beside it. */
export function parseJsonDocument(output: Uint8Array): unknown {
  const text = Buffer.from(output).toString();
  if (!text.endsWith('\n')) {
    throw new Error(`The document is not ended by a newline: ${JSON.stringify(text.slice(-80))}`);
  }
  return JSON.parse(text);
}

function parseLine(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new Error(`Line ${number} is not JSON: ${JSON.stringify(line)}`, { cause: error });
  }
}
