/** A file cannot be used; the message goes on behind its name. */
export class ReferenceProblem extends Error {
  override readonly name = 'ReferenceProblem';
}
