import { hash } from 'node:crypto';
import path from 'node:path';
import type { SpeechOrder } from '../../api/resources/speech.ts';
import type { Tags } from '../../audio/encode/tags.ts';
import type { Format } from '../../audio/formats.ts';
import { extensionOf, foreignOutput, formatOfPath } from '../../audio/formats.ts';
import { TEXT_MAX_CHARACTERS } from '../../contract/limits.ts';
import type { SpeechControls } from '../../contract/speech.ts';
import type { AudioFormat, FileFormat } from '../../contract/values.ts';
import { AUDIO_FORMATS, FILE_FORMATS } from '../../contract/values.ts';
import { isTemporaryName } from '../../durable/files.ts';
import { notReserved, windowsNameProblem } from '../../durable/names.ts';
import type { SoundChanges } from '../../durable/output.ts';
import { usageFailure } from '../../errors/failure.ts';
import { pronunciationsOf } from '../../speech/pronunciations.ts';
import { refuseLongPauses } from '../../speech/speech-text.ts';
import { countCodePoints, hasMoreCodePointsThan } from '../../text/code-points.ts';
import { display } from '../../text/display.ts';
import type { SpokenText } from '../../text/document.ts';
import type { PausedParts } from '../../text/pauses.ts';
import { splitAtPauses } from '../../text/pauses.ts';
import { BATCH_FOLDER } from '../journal/journal.ts';
import type { Inputs, ItemDraft } from './items.ts';
import { draftsOf } from './items.ts';

/** An item of a batch: one text to speak, with its id, its output file and the speech request. */
export interface BatchItem {
  /** Number of the item in the whole batch, from 1. All shards of a batch use the same numbers. */
  readonly index: number;
  /** Id of the item, as shown to the user. */
  readonly id: string;
  /** File and line of the item, for messages. */
  readonly source: string;
  /** Path of the audio file, relative to the output folder, with `/` between folders. */
  readonly output: string;
  readonly order: SpeechOrder & { readonly format: AudioFormat };
  /** The format of the file, if the service does not make it. foley then encodes the audio, which is wav. */
  readonly encoding?: FileFormat | undefined;
  /** The changes that foley makes to the sound, which is wav; undefined for none. */
  readonly changes?: SoundChanges | undefined;
  /**
   * The text to speak and its pauses. Set only if the text comes from a document or was prepared (for example, by a
   * lexicon).
   */
  readonly spoken?: SpokenText | undefined;
  /**
   * The parts between the pauses of the text, or of a chapter that is too long for one request. Each part is a separate
   * request. Undefined for a text that is one request.
   */
  readonly parts?: PausedParts | undefined;
  /** The tags of the audio file. Set only for a chapter of a document, and a format that has tags. */
  readonly tags?: Tags | undefined;
  /**
   * The source of a Markdown document. Earlier versions of foley sent the source itself to the service. The current
   * version uses the source to find the journal records of those requests.
   */
  readonly rawText?: string | undefined;
  readonly characters: number;
  /** True if the input sets no voice for the item. The item then uses the default voice. */
  readonly usesDefaultVoice: boolean;
}

/** Default values for the fields that an item does not set. */
export interface PlanDefaults {
  readonly voiceId: string;
  readonly modelId: string | undefined;
  /** Value of `--format`. An output file must not have the extension of another format. */
  readonly format: AudioFormat | FileFormat | undefined;
  /** Format from the settings. The extension of an output takes precedence. */
  readonly configuredFormat: AudioFormat | undefined;
  readonly controls: SpeechControls;
  /** The changes that foley makes to the sound of each item; undefined for none. */
  readonly changes?: SoundChanges | undefined;
}

export interface BatchPlanOptions extends Inputs {
  readonly defaults: PlanDefaults;
  /** The operating system whose rules for file names apply to the outputs. */
  readonly platform: NodeJS.Platform;
  readonly template: NameTemplate;
  readonly total: number;
  /** Returns the names of the caption files that belong to an output file. */
  readonly sidecars: (output: string) => readonly string[];
}

/**
 * Yields the items of a batch in order. Checks each item, and rejects two items with the same id or output file.
 * @throws Failure of kind `usage` naming the file and line
 */
export async function* planItems(
  options: BatchPlanOptions,
): AsyncGenerator<BatchItem, void, undefined> {
  const width = String(options.total).length;
  const padded = (index: number): string => String(index).padStart(width, '0');
  const ids = new FirstOwners();
  const outputs = new TakenOutputs();
  let index = 0;
  for await (const draft of draftsOf(options, (list, number) => `${list}-${padded(number)}`)) {
    index += 1;
    const id = takeId(draft, index, ids);
    const item = decide(draft, { index, id, padded: padded(index) }, options);
    for (const output of [item.output, ...options.sidecars(item.output)]) {
      outputs.take(output, index, draft.source);
    }
    yield item;
  }
}

function decide(
  draft: ItemDraft,
  { index, id, padded }: { index: number; id: string; padded: string },
  { defaults, platform, template }: BatchPlanOptions,
): BatchItem {
  const { rawText, source, spoken, tags, text } = draft;
  const parts = partsOf(spoken);
  if (parts?.parts.length === 0) {
    throw usageFailure(`${source} has only pauses`, 'Add some text to speak.');
  }
  const voiceId = draft.voiceId ?? defaults.voiceId;
  const modelId = draft.modelId ?? defaults.modelId;
  const chosen = draft.format ?? defaults.format;
  const fallback = chosen ?? defaults.configuredFormat ?? 'mp3';
  const { dir = '', name } = draft;
  const places = { index: padded, name, dir, id, voice: voiceId, ext: extensionOf(fallback) };
  const output = checkOutputName(draft.output ?? template(places), source, platform);
  const wanted = formatOf(output, source, chosen) ?? fallback;
  const { changes } = defaults;
  const isUnchanged = changes === undefined;
  const encoding = FILE_FORMATS.find((one) => one === wanted && !(isUnchanged && isMade(one)));
  const format = isUnchanged && isMade(wanted) ? wanted : 'wav';
  refuseLongPauses(spoken, format, `${source}: `);
  return {
    index,
    id,
    source,
    output,
    order: {
      text,
      voiceId,
      ...(modelId === undefined ? {} : { modelId }),
      format,
      ...defaults.controls,
      ...draft.controls,
      ...pronunciationsOf(spoken),
    },
    ...(encoding === undefined ? {} : { encoding }),
    ...(isUnchanged ? {} : { changes }),
    ...(spoken === undefined ? {} : { spoken }),
    ...(parts === undefined ? {} : { parts }),
    ...(tags === undefined || wanted === 'wav' ? {} : { tags }),
    ...(rawText === undefined ? {} : { rawText }),
    characters: (parts?.parts ?? [{ text }]).reduce(
      (sum, one) => sum + countCodePoints(one.text),
      0,
    ),
    usesDefaultVoice: draft.voiceId === undefined,
  };
}

function isMade(format: Format): format is AudioFormat {
  return AUDIO_FORMATS.some((made) => made === format);
}

function partsOf(spoken: SpokenText | undefined): PausedParts | undefined {
  if (spoken === undefined) return undefined;
  const isOneRequest =
    spoken.pauses.length === 0 && !hasMoreCodePointsThan(spoken.text, TEXT_MAX_CHARACTERS);
  return isOneRequest ? undefined : splitAtPauses(spoken, TEXT_MAX_CHARACTERS);
}

function formatOf(
  output: string,
  source: string,
  chosen: AudioFormat | FileFormat | undefined,
): AudioFormat | FileFormat | undefined {
  const foreign = foreignOutput(`${source}: its output`, output, FILE_FORMATS);
  if (foreign !== undefined) throw foreign;
  const extensionFormat = formatOfPath(output);
  if (extensionFormat === undefined) return undefined;
  const format = FILE_FORMATS.find((candidate) => candidate === extensionFormat);
  if (format === undefined) {
    throw usageFailure(
      `${source}: its output has the extension of ${extensionFormat}; speech formats are ${FILE_FORMATS.join(', ')}`,
      'Choose one of those, and convert the file afterwards.',
    );
  }
  if (chosen === undefined || chosen === format) return format;
  throw usageFailure(
    `${source}: the format is ${chosen}, but its output has the extension of ${format}`,
    'Change one of them.',
  );
}

// Returns the id from the input, else the title, with a number appended if another item has that id.
function takeId({ id, name, source, title = name }: ItemDraft, index: number, ids: FirstOwners) {
  if (id === undefined) {
    for (let number = 1; ; number += 1) {
      const free = number === 1 ? title : `${title}-${number}`;
      if (ids.add(free, index) === undefined) return free;
    }
  }
  const other = ids.add(id, index);
  if (other === undefined) return id;
  throw usageFailure(
    `${source}: item ${other} has the same id "${display(id)}"`,
    'Give each item its own id.',
  );
}

// Checks that no two outputs can be the same file on any file system, and that no output is a folder of another one.
class TakenOutputs {
  readonly #outputs = new FirstOwners();
  readonly #folders = new FirstOwners();

  take(output: string, index: number, source: string): void {
    const name = foldedName(output);
    const same = this.#outputs.add(name, index);
    if (same !== undefined) {
      throw usageFailure(
        `${source}: its output ${display(output)} is also the output of item ${same} (names that differ only in case, or in the encoding of accents, may be one file)`,
        'Give them different names, for example with {dir} or {index} in --name.',
      );
    }
    const clash = this.#folders.ownerOf(name) ?? this.#clashAbove(name, index);
    if (clash === undefined) return;
    throw usageFailure(
      `${source}: its output ${display(output)} conflicts with the output of item ${clash}: the same name would be a file and a folder`,
      'Give one of them another name.',
    );
  }

  // Adds the parent folders of an output. Returns the item whose output has the name of such a folder, if any.
  #clashAbove(name: string, index: number): number | undefined {
    for (let above = path.posix.dirname(name); above !== '.'; above = path.posix.dirname(above)) {
      const file = this.#outputs.ownerOf(above);
      if (file !== undefined) return file;
      // The folders above a known folder were checked with it.
      if (this.#folders.add(above, index) !== undefined) return undefined;
    }
    return undefined;
  }
}

/**
 * Detects duplicate strings, such as ids. Remembers which item used each string first, by a 96-bit digest of the
 * string.
 */
export class FirstOwners {
  readonly #owners = new Map<string, number>();

  /**
   * Records which item used a string first. If the string was already recorded, returns the item that used it first.
   */
  add(text: string, owner: number): number | undefined {
    const digest = digestOf(text);
    const before = this.#owners.get(digest);
    if (before === undefined) this.#owners.set(digest, owner);
    return before;
  }

  ownerOf(text: string): number | undefined {
    return this.#owners.get(digestOf(text));
  }
}

function digestOf(text: string): string {
  return hash('sha256', text, 'binary').slice(0, 12);
}

const PLACES = ['index', 'name', 'dir', 'id', 'voice', 'ext'] as const;

/** Builds the output path of an item. `parts` has a value for each placeholder. The path has `/` between folders. */
export type NameTemplate = (parts: Readonly<Record<(typeof PLACES)[number], string>>) => string;

/**
 * Parses the value of `--name`, a text with placeholders such as `{name}`.
 * @throws Failure of kind `usage` for an unknown placeholder
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
 * Converts an untrusted string to one part of a path. Characters that some systems do not allow become dashes. The
 * result is never hidden, `.`, `..` or a device name.
 */
export function nameComponent(value: string): string {
  const plain = value
    .normalize('NFC')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}/\\<>:"|?*]+/gu, '-')
    .replace(/^[\s.]+/, '')
    .replace(/[\s.]+$/, '');
  return plain === '' ? 'item' : plainName(plain);
}

// Other programs would parse a leading dash as a flag.
function plainName(name: string): string {
  return notReserved(name.replace(/^-/, '_'));
}

/**
 * Converts a file name to a form that ignores case and the encoding of accents. On some file systems, two names with
 * the same form are one file.
 */
export function foldedName(output: string): string {
  return output.normalize('NFD').toUpperCase().toLowerCase().normalize('NFC');
}

// The limit of common file systems.
const LONGEST_COMPONENT_BYTES = 255;

// The path must be relative, use `/`, and stay in the output folder on every system.
function checkOutputName(output: string, source: string, platform: NodeJS.Platform): string {
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
      `${source}: the output "${display(output)}" is a name that foley reserves`,
      'Choose another name.',
    );
  }
  const nameProblem = platform === 'win32' ? windowsNameProblem(output) : undefined;
  if (nameProblem !== undefined) {
    throw usageFailure(
      `${source}: the output "${display(output)}" ${nameProblem}, which Windows does not allow`,
      'Choose another name.',
    );
  }
  return output;
}
