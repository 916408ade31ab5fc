import { createHash } from 'node:crypto';
import path from 'node:path';
import type { SpeechOrder } from '../../api/resources/speech.ts';
import { extensionOf, formatOfPath } from '../../audio/formats.ts';
import type { AudioFormat } from '../../contract/values.ts';
import { SPEECH_FORMATS } from '../../contract/generated/speech-controls.ts';
import type { SpeechControls } from '../../contract/speech.ts';
import { usageFailure } from '../../errors/failure.ts';
import { countCodePoints } from '../../text/code-points.ts';
import { display } from '../../text/display.ts';
import { draftsOf } from './items.ts';
import type { Inputs, ItemDraft } from './items.ts';
import type { NameTemplate } from './name-template.ts';
import { checkOutputName, foldedName } from './name-template.ts';

/** A text to speak, with everything decided. */
export interface BatchItem {
  /** From 1, over all shards. */
  readonly index: number;
  /** Identifies the item to the user. */
  readonly id: string;
  /** Its file and line, for messages. */
  readonly source: string;
  /** Path below the output folder, with `/` between folders. */
  readonly output: string;
  readonly order: SpeechOrder & { readonly format: AudioFormat };
  readonly characters: number;
  /** Whether its input names no voice. */
  readonly usesDefaultVoice: boolean;
}

/** Values for items that do not have their own. */
export interface PlanDefaults {
  readonly voiceId: string;
  readonly modelId: string | undefined;
  /** `--format`, which must match the extension of an output. */
  readonly format: AudioFormat | undefined;
  /** The format of the configuration, which an extension overrides. */
  readonly configuredFormat: AudioFormat | undefined;
  readonly controls: SpeechControls;
}

export interface PlanOptions extends Inputs {
  readonly defaults: PlanDefaults;
  readonly template: NameTemplate;
  /** Number of items, as {@link countItems} returns it. */
  readonly total: number;
  /** Returns the sidecar files of an item, such as captions, from its output. */
  readonly sidecars: (output: string) => readonly string[];
}

/**
 * Yields the items of a batch in their order, each checked alone and against all before it. Holds one text at a
 * time, and a digest of each name.
 * @throws Failure (usage) naming the file and line
 */
export async function* planItems(options: PlanOptions): AsyncGenerator<BatchItem, void, undefined> {
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
  { defaults, template }: PlanOptions,
): BatchItem {
  const { source, text } = draft;
  const voiceId = draft.voiceId ?? defaults.voiceId;
  const modelId = draft.modelId ?? defaults.modelId;
  const chosen = draft.format ?? defaults.format;
  const fallback = chosen ?? defaults.configuredFormat ?? 'mp3';
  const { dir = '', name } = draft;
  const parts = { index: padded, name, dir, id, voice: voiceId, ext: extensionOf(fallback) };
  const output = checkOutputName(draft.output ?? template(parts), source);
  const format = formatOf(output, source, chosen) ?? fallback;
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
    },
    characters: countCodePoints(text),
    usesDefaultVoice: draft.voiceId === undefined,
  };
}

/** Returns the format that the extension of an output selects, if any. */
function formatOf(
  output: string,
  source: string,
  chosen: AudioFormat | undefined,
): AudioFormat | undefined {
  const named = formatOfPath(output);
  if (named === undefined) return undefined;
  const format = SPEECH_FORMATS.find((candidate) => candidate === named);
  if (format === undefined) {
    throw usageFailure(
      `${source}: its output has the extension of ${named}; speech formats are ${SPEECH_FORMATS.join(', ')}`,
      'Choose one of those, and convert the file afterwards.',
    );
  }
  if (chosen === undefined || chosen === format) return format;
  throw usageFailure(
    `${source}: the format is ${chosen}, but the extension of its output is that of ${format}`,
    'Change one of them.',
  );
}

/**
 * Returns the id that the input gives, else the title, with a number if another item has that id.
 * @throws Failure (usage) for an id that another item has
 */
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

/** The outputs of a plan: no two are one file on any file system, and none is a folder of another. */
class TakenOutputs {
  readonly #outputs = new FirstOwners();
  readonly #folders = new FirstOwners();

  /** @throws Failure (usage) naming both items */
  take(output: string, index: number, source: string): void {
    const name = foldedName(output);
    const same = this.#outputs.add(name, index);
    if (same !== undefined) {
      throw usageFailure(
        `${source}: its output ${display(output)} is also that of item ${same} (names that differ only in case, or in the encoding of accents, may be one file)`,
        'Give them different names, for example with {dir} or {index} in --name.',
      );
    }
    const clash = this.#folders.ownerOf(name) ?? this.#clashAbove(name, index);
    if (clash === undefined) return;
    throw usageFailure(
      `${source}: its output ${display(output)} and that of item ${clash} use one name for a file and a folder`,
      'Give one of them another name.',
    );
  }

  /** Adds the folders above an output, and returns the item whose output has such a name, if any. */
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

/** A map from strings of any length to the item that added them first. Retains a digest of 96 bits of each. */
export class FirstOwners {
  readonly #owners = new Map<string, number>();

  /** Adds a string unless it is known; then returns its owner. */
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
  return createHash('sha256').update(text).digest().toString('latin1', 0, 12);
}
