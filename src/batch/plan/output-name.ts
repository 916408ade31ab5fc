import { usageFailure } from '../../errors/failure.ts';
import { isTemporaryName } from '../../files/temporary.ts';
import { display } from '../../text/display.ts';

/** The folder, below the output folder, in which a batch keeps what it knows. */
export const BATCH_FOLDER = '.foley';

/** No file system takes longer ones. */
const LONGEST_COMPONENT_BYTES = 255;

/**
 * The name of an output below the output folder: relative, with `/` between folders, and neither dots nor
 * what only some systems understand may lead out of it.
 * @param source of whose item, for messages
 * @throws Failure (usage)
 */
export function checkOutputName(output: string, source: string): string {
  const parts = output.split('/');
  const isPlain = parts.every((part) => part !== '' && part !== '.' && part !== '..');
  if (!isPlain || /[\\\0-\x1f\x7f]|^[A-Za-z]:/.test(output)) {
    throw usageFailure(
      `${source}: the output "${display(output)}" is not a plain name inside of the output folder`,
      'Use names like a.mp3 or part-1/a.mp3, with / between folders.',
    );
  }
  const long = parts.find((part) => Buffer.byteLength(part) > LONGEST_COMPONENT_BYTES);
  if (long !== undefined) {
    throw usageFailure(
      `${source}: the output name ${display(long, { max: 40 })} has ${Buffer.byteLength(long)} bytes; files take ${LONGEST_COMPONENT_BYTES}`,
      'Choose a shorter one.',
    );
  }
  if (parts[0]?.toLowerCase() === BATCH_FOLDER || isTemporaryName(parts.at(-1) ?? '')) {
    throw usageFailure(
      `${source}: the output "${display(output)}" is a name that foley keeps for itself`,
      'Choose another one.',
    );
  }
  return output;
}
