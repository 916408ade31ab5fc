import { Failure } from '../errors/failure.ts';

/**
 * Loads sharp, which draws the pictures of the embedded service, so that a missing binary is known before
 * a job is made.
 * @throws Failure (state)
 */
export async function requireSharp(): Promise<void> {
  try {
    await import('sharp');
  } catch (error) {
    throw missingBinary('sharp', error);
  }
}

/** The failure of a package whose binary for this system is not installed, or is one of another system. */
export function missingBinary(name: string, cause: unknown): Failure {
  const [reason = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
  return new Failure(
    `the package ${name} cannot be loaded on ${process.platform} ${process.arch}: ${reason}`,
    {
      code: 'state',
      exit: 'state',
      hint:
        'Its binary is an optional package of npm. Install foley anew on this computer: ' +
        '`npm install -g foley --include=optional`, or in a project: delete node_modules, then `npm install --include=optional`.',
      cause,
    },
  );
}
