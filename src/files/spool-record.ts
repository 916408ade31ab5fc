/** What is known of audio in the spool besides the audio. Neither text nor keys are ever in it. */
export interface SpoolAbout {
  /** What was made, such as `speech` or `dub`. */
  readonly what: string;
  /** File extension of the audio, without a dot. */
  readonly extension: string;
  /** Where it was meant to go; null for stdout. */
  readonly output: string | null;
  readonly requestId: string | null;
  readonly creditsUsed: number | null;
  /** The operation in the intent journal, where there is one. */
  readonly operation: string | null;
  /** Why it is here and not there, as a sentence; null while it is still arriving. */
  readonly problem: string | null;
}

export interface SpoolRecord extends SpoolAbout {
  readonly version: 1;
  /** When it was begun, as an ISO date. */
  readonly keptAt: string;
  /** Whether all of it is here; null while it is still arriving, or when that was interrupted. */
  readonly complete: boolean | null;
  /** `foley recover` has reported that the rest of it is lost. */
  readonly reported?: true | undefined;
}

/** Reads a record; undefined for what is none, be it damaged or of a later version. */
export function parseSpoolRecord(json: string): SpoolRecord | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isSpoolRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isSpoolRecord(value: unknown): value is SpoolRecord {
  if (typeof value !== 'object' || value === null) return false;
  const fields = new Map<string, unknown>(Object.entries(value));
  const isTextOrNull = (name: string) => fields.get(name) === null || isText(fields.get(name));
  return (
    fields.get('version') === 1 &&
    ['what', 'extension', 'keptAt'].every((name) => isText(fields.get(name))) &&
    ['output', 'requestId', 'operation', 'problem'].every((name) => isTextOrNull(name)) &&
    (fields.get('creditsUsed') === null || Number.isFinite(fields.get('creditsUsed'))) &&
    (fields.get('complete') === null || typeof fields.get('complete') === 'boolean')
  );
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
