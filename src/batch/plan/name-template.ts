import { isTemporaryName } from '../../durable/files.ts';
import { usageFailure } from '../../errors/failure.ts';
import { display } from '../../text/display.ts';

/** What a name may be made of. */
interface NameParts {
  /** From 1, padded with zeros to the length of the last one. */
  readonly index: string;
  readonly name: string;
  /** With `/` between folders; empty for none. */
  readonly dir: string;
  readonly id: string;
  readonly voice: string;
  readonly ext: string;
}

export interface NameTemplate {
  /** The output of one item, relative, with `/` between folders. */
  render(parts: NameParts): string;
}

const PLACES = ['index', 'name', 'dir', 'id', 'voice', 'ext'] as const;

/**
 * The value of `--name`: text with places such as `{name}`.
 * @throws Failure (usage) for a place that there is not
 */
export function parseNameTemplate(given: string): NameTemplate {
  if (given.trim() === '')
    throw usageFailure('--name is empty', 'Give a name such as {name}.{ext}.');
  for (const [shown, place] of given.matchAll(/\{([^{}]*)\}/g)) {
    if (!PLACES.some((known) => known === place)) throw unknownPlace(given, shown);
  }
  const rest = given.replaceAll(/\{[^{}]*\}/g, '');
  if (/[{}]/.test(rest)) throw unknownPlace(given, '{');
  return {
    render: (parts) =>
      given
        .replaceAll(/\{([^{}]*)\}(\/?)/g, (_shown, place: string, slash: string) => {
          if (place === 'dir') return folderName(parts.dir, slash);
          const known = PLACES.find((candidate) => candidate === place);
          return known === undefined ? '' : nameComponent(parts[known]) + slash;
        })
        .split('/')
        .map((name) => plainName(name))
        .join('/'),
  };
}

function unknownPlace(given: string, shown: string): Error {
  return usageFailure(
    `--name is "${display(given)}", in which ${display(shown)} means nothing`,
    `It takes ${PLACES.map((place) => `{${place}}`).join(', ')}.`,
  );
}

/** Without a folder there is nothing to separate. */
function folderName(dir: string, slash: string): string {
  if (dir === '') return '';
  const names = dir.split('/').map((name) => nameComponent(name));
  return names.join('/') + slash;
}

/**
 * A string of a user's own as a part of a name: what separates folders, steers a terminal or is not taken
 * by some system becomes a dash. It is never hidden, never `.` or `..`, and never a device's name.
 */
export function nameComponent(value: string): string {
  const plain = value
    .normalize('NFC')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}/\\<>:"|?*]+/gu, '-')
    .replace(/^[\s.]+/, '')
    .replace(/[\s.]+$/, '');
  return plain === '' ? 'item' : plainName(plain);
}

/** A name that is neither a flag to other programs nor a device. */
function plainName(name: string): string {
  return name.replace(/^-/, '_').replace(DEVICE, '$&-file');
}

/** Windows gives these to devices, with any extension and in any case. */
const DEVICE =
  /^(?:con|prn|aux|nul|com[\d\u00b9\u00b2\u00b3]|lpt[\d\u00b9\u00b2\u00b3]|conin\$|conout\$)(?=\.|$)/i;

/**
 * A name as file systems compare it that know neither case nor the two ways in which Unicode writes an
 * accent: what is equal here may be one file.
 */
export function foldedName(output: string): string {
  return output.normalize('NFD').toUpperCase().toLowerCase().normalize('NFC');
}

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
