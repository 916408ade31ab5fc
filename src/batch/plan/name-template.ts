import { isTemporaryName } from '../../durable/files.ts';
import { usageFailure } from '../../errors/failure.ts';
import { display } from '../../text/display.ts';

const PLACES = ['index', 'name', 'dir', 'id', 'voice', 'ext'] as const;

/** Renders the output of an item: relative, with `/` between folders. `dir` may be empty. */
export type NameTemplate = (parts: Readonly<Record<(typeof PLACES)[number], string>>) => string;

/**
 * Parses the value of `--name`: text with placeholders such as `{name}`.
 * @throws Failure (usage) for an unknown placeholder
 */
export function parseNameTemplate(given: string): NameTemplate {
  if (given.trim() === '')
    throw usageFailure('--name is empty', 'Give a name such as {name}.{ext}.');
  for (const [shown, place] of given.matchAll(/\{([^{}]*)\}/g)) {
    if (!PLACES.some((known) => known === place)) throw unknownPlace(given, shown);
  }
  const rest = given.replaceAll(/\{[^{}]*\}/g, '');
  if (/[{}]/.test(rest)) throw unknownPlace(given, '{');
  return (parts) =>
    given
      .replaceAll(/\{([^{}]*)\}(\/?)/g, (_shown, place: string, slash: string) => {
        const known = PLACES.find((candidate) => candidate === place);
        if (known === undefined) return '';
        if (known !== 'dir') return nameComponent(parts[known]) + slash;
        // Without a folder there is nothing to separate.
        if (parts.dir === '') return '';
        return parts.dir.split('/').map(nameComponent).join('/') + slash;
      })
      .split('/')
      .map(plainName)
      .join('/');
}

function unknownPlace(given: string, shown: string): Error {
  return usageFailure(
    `--name is "${display(given)}", with the unknown placeholder ${display(shown)}`,
    `The placeholders are ${PLACES.map((place) => `{${place}}`).join(', ')}.`,
  );
}

/**
 * Converts an untrusted string to one part of a file name: separators, control characters and characters that
 * some system refuses become dashes. The result is never hidden, never `.` or `..`, and never a device name.
 */
export function nameComponent(value: string): string {
  const plain = value
    .normalize('NFC')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}/\\<>:"|?*]+/gu, '-')
    .replace(/^[\s.]+/, '')
    .replace(/[\s.]+$/, '');
  return plain === '' ? 'item' : plainName(plain);
}

/** Changes names that other programs read as a flag, and device names. */
function plainName(name: string): string {
  return name.replace(/^-/, '_').replace(DEVICE, '$&-file');
}

/** Device names of Windows, with any extension and in any case. */
const DEVICE =
  /^(?:con|prn|aux|nul|com[\d\u00b9\u00b2\u00b3]|lpt[\d\u00b9\u00b2\u00b3]|conin\$|conout\$)(?=\.|$)/i;

/**
 * Normalises case and accents like file systems that ignore them: names with equal results may be one file.
 */
export function foldedName(output: string): string {
  return output.normalize('NFD').toUpperCase().toLowerCase().normalize('NFC');
}

/** The folder with the state of a batch, in the output folder. */
export const BATCH_FOLDER = '.foley';

/** The longest name that file systems accept. */
const LONGEST_COMPONENT_BYTES = 255;

/**
 * Checks the path of an output: it must be relative, with `/` between folders, and must not lead out of the output
 * folder on any system.
 * @param source file and line of the item, for messages
 * @throws Failure (usage)
 */
export function checkOutputName(output: string, source: string): string {
  const parts = output.split('/');
  const isPlain = parts.every((part) => part !== '' && part !== '.' && part !== '..');
  if (!isPlain || /[\\\0-\x1f\x7f]|^[A-Za-z]:/.test(output)) {
    throw usageFailure(
      `${source}: the output "${display(output)}" is not a plain path inside the output folder`,
      'Use names like a.mp3 or part-1/a.mp3, with / between folders.',
    );
  }
  const long = parts.find((part) => Buffer.byteLength(part) > LONGEST_COMPONENT_BYTES);
  if (long !== undefined) {
    throw usageFailure(
      `${source}: the output name ${display(long, { max: 40 })} has ${Buffer.byteLength(long)} bytes; at most ${LONGEST_COMPONENT_BYTES} are allowed`,
      'Choose a shorter name.',
    );
  }
  if (parts[0]?.toLowerCase() === BATCH_FOLDER || isTemporaryName(parts.at(-1) ?? '')) {
    throw usageFailure(
      `${source}: the output "${display(output)}" is a name that foley uses itself`,
      'Choose another name.',
    );
  }
  return output;
}
