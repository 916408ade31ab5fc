/** A file cannot be used; the message goes on behind its name. */
export class SoundProblem extends Error {
  override readonly name = 'SoundProblem';
}
