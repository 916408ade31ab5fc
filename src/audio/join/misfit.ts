import { Failure } from '../../errors/failure.ts';

/** A part that cannot be joined to those before it, or that is no such file. */
export function misfit(problem: string): Failure {
  return new Failure(`the parts of the audio cannot be joined: ${problem}`, {
    code: 'bad_answer',
    exit: 'badAnswer',
    hint: 'The service answered them differently; name a model and a format, and try again.',
  });
}
