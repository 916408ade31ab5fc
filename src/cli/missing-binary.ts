import { Failure } from '../errors/failure.ts';

/**
 * Loads the package `sharp`, with which the embedded service draws images, before a job is created.
 * @throws Failure (state) when the binary of `sharp` is missing
 */
export async function requireSharp(): Promise<void> {
  try {
    await import('sharp');
  } catch (error) {
    throw missingBinary('sharp', error);
  }
}

/** Creates the failure for a package whose binary for this system is not installed. */
export function missingBinary(name: string, cause: unknown): Failure {
  const [reason = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
  return new Failure(
    `the package ${name} cannot be loaded on ${process.platform} ${process.arch}: ${reason}`,
    {
      code: 'state',
      exit: 'state',
      hint:
        'The binary is an optional npm package. Reinstall foley on this computer: ' +
        '`npm install -g foley --include=optional`, or in a project: delete node_modules, then `npm install --include=optional`.',
      cause,
    },
  );
}
