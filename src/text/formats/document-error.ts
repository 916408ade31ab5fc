/** Thrown for a document that cannot be read. The message does not contain the file name. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';
  /** Line number, from 1; undefined if the error does not belong to one line. */
  readonly line: number | undefined;
  /** What the user can do about the error. */
  readonly hint: string | undefined;

  constructor(
    message: string,
    { hint, line }: { readonly hint?: string; readonly line?: number | undefined } = {},
  ) {
    super(message);
    this.line = line;
    this.hint = hint;
  }
}
