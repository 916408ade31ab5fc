import { Failure } from '../errors/failure.ts';

/**
 * Loads `sharp`, with which the embedded service draws images. Called before a job is created, to fail early.
 * @throws Failure of kind `state` if the binary of `sharp` is missing
 */
export async function requireSharp(): Promise<void> {
  try {
    await import('sharp');
  } catch (error) {
    throw missingBinary('sharp', error);
  }
}

/** Creates the failure for an npm package that is not installed, or whose native binary does not match this system. */
export function missingBinary(name: string, cause: unknown): Failure {
  const [reason = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
  return new Failure(
    `the package ${name} cannot be loaded on ${process.platform} ${process.arch}: ${reason}`,
    {
      code: 'state',
      exit: 'state',
      hint:
        'The installation is incomplete: npm has left out optional packages, or node_modules is from another system. ' +
        'Delete node_modules and run `npm install --include=optional`, ' +
        'or install a global foley again with `--include=optional`.',
      cause,
    },
  );
}
