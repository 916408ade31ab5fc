import path from 'node:path';
import type { MeasuredSound } from '../src/audio/measure/measure-sound.ts';
import type { Context } from '../src/cli/context.ts';
import { usageFailure } from '../src/errors/failure.ts';
import { findRegularFile } from '../src/files/regular-file.ts';

/**
 * Decodes and measures a file.
 * @throws Failure (usage) when it cannot be read, or holds no sound that is known here
 */
export async function measureFile(
  given: string,
  { cwd, files, signal }: Pick<Context, 'cwd' | 'files' | 'signal'>,
): Promise<{ readonly bytes: number; readonly sound: MeasuredSound }> {
  const file = path.resolve(cwd(), given);
  const found = await findRegularFile(file, given, files);
  if (found === undefined) throw usageFailure(`${given} is no regular file`);
  const { measureSound } = await import('../src/audio/measure/measure-sound.ts');
  const { SoundProblem } = await import('../src/audio/decode/sound-problem.ts');
  const handle = await files.open(file, 'r');
  try {
    const sound = await measureSound({ fd: handle.fd, size: found.byteLength }, signal);
    return { bytes: found.byteLength, sound };
  } catch (error) {
    if (error instanceof SoundProblem) throw usageFailure(`${given} ${error.message}`);
    throw error;
  } finally {
    await handle.close();
  }
}
