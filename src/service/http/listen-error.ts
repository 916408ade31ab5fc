/** The address cannot be listened on. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
  readonly reason: 'in-use' | 'refused';

  constructor(reason: 'in-use' | 'refused', message: string, cause: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}
