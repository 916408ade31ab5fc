import { createHash } from 'node:crypto';
import path from 'node:path';
import type { SpeechOrder } from '../../api/resources/speech.ts';
import { extensionOf, formatOfPath } from '../../audio/formats.ts';
import type { AudioFormat } from '../../contract/values.ts';
import { SPEECH_FORMATS } from '../../contract/generated/speech-controls.ts';
import type { SpeechControls } from '../../contract/speech.ts';
import type { FileSystem } from '../../effects/file-system.ts';
import { usageFailure } from '../../errors/failure.ts';
import { countCodePoints } from '../../text/code-points.ts';
import { display } from '../../text/display.ts';
import type { Source } from './inputs.ts';
import { draftsOf } from './items.ts';
import type { ItemDraft } from './items.ts';
import type { NameTemplate } from './name-template.ts';
import { checkOutputName, foldedName } from './name-template.ts';

/** One thing to be spoken, completely decided. */
export interface BatchItem {
  /** From 1, over all shards. */
  readonly index: number;
  /** By this the journal and the person know it again. */
  readonly id: string;
  /** For messages. */
  readonly source: string;
  /** Below the output folder, with `/` between folders. */
  readonly output: string;
  readonly order: SpeechOrder & { readonly format: AudioFormat };
  readonly characters: number;
  /** Its input names no voice. */
  readonly usesDefaultVoice: boolean;
}

/** What counts for items that do not say otherwise. */
export interface PlanDefaults {
  readonly voiceId: string;
  readonly modelId: string | undefined;
  /** `--format`, which an output's ending may not contradict. */
  readonly format: AudioFormat | undefined;
  /** Where nothing else decides. */
  readonly configuredFormat: AudioFormat | undefined;
  readonly controls: SpeechControls;
}

export interface PlanOptions {
  readonly sources: readonly Source[];
  readonly defaults: PlanDefaults;
  readonly template: NameTemplate;
  /** Items of the whole plan, as {@link countItems} counts them. */
  readonly total: number;
  readonly files: FileSystem;
  /** Of tables. */
  readonly textColumn?: string | undefined;
  /** The further files of an item, by its output. */
  readonly besides: (output: string) => readonly string[];
}

/**
 * The items of a batch in their order, each checked, and against all before it; holds one text at a time
 * and 32 bytes of each name.
 * @throws Failure (usage) naming where the fault is
 */
export async function* planItems(options: PlanOptions): AsyncGenerator<BatchItem, void, undefined> {
  const { files, sources, textColumn, total } = options;
  const width = String(total).length;
  const padded = (index: number): string => String(index).padStart(width, '0');
  const ids = new TakenIds();
  const outputs = new TakenOutputs();
  let index = 0;
  for await (const draft of draftsOf(
    sources,
    (list, number) => `${list}-${padded(number)}`,
    files,
    textColumn,
  )) {
    index += 1;
    const { id: given, name, title = name } = draft;
    const id = given === undefined ? ids.free(title, index) : ids.take(given, index, draft);
    const item = decide(draft, { index, id, padded: padded(index) }, options);
    outputs.take(item.output, index, draft);
    for (const beside of options.besides(item.output)) outputs.take(beside, index, draft);
    yield item;
  }
}

interface Place {
  readonly index: number;
  readonly id: string;
  readonly padded: string;
}

function decide(
  draft: ItemDraft,
  { index, id, padded }: Place,
  { defaults, template }: PlanOptions,
): BatchItem {
  const { source, text } = draft;
  const voiceId = draft.voiceId ?? defaults.voiceId;
  const modelId = draft.modelId ?? defaults.modelId;
  const chosen = draft.format ?? defaults.format;
  const usual = chosen ?? defaults.configuredFormat ?? 'mp3';
  const { dir = '', name } = draft;
  const parts = { index: padded, name, dir, id, voice: voiceId, ext: extensionOf(usual) };
  const output = checkOutputName(draft.output ?? template.render(parts), source);
  const format = formatOf(output, { chosen, usual, source });
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

interface FormatWishes {
  readonly chosen: AudioFormat | undefined;
  readonly usual: AudioFormat;
  readonly source: string;
}

function formatOf(output: string, { chosen, source, usual }: FormatWishes): AudioFormat {
  const named = formatOfPath(output);
  if (named === undefined) return usual;
  const format = SPEECH_FORMATS.find((candidate) => candidate === named);
  if (format === undefined) {
    throw usageFailure(
      `${source}: its output ends in a name for ${named}; speech comes as ${SPEECH_FORMATS.join(', ')}`,
      'Choose one of those endings, and convert the file afterwards.',
    );
  }
  if (chosen === undefined || chosen === format) return format;
  throw usageFailure(
    `${source}: the format is ${chosen}, but the name of its output says ${format}`,
    'Change one of them.',
  );
}

interface Named {
  readonly source: string;
}

/** The ids of a plan, of which no two are the same. */
class TakenIds {
  readonly #ids = new Fingerprints();

  /**
   * Takes an id that the input gave.
   * @throws Failure (usage) when another item has it
   */
  take(id: string, index: number, { source }: Named): string {
    const other = this.#ids.add(id, index);
    if (other === undefined) return id;
    throw usageFailure(
      `${source}: item ${other} has the id "${display(id)}" too`,
      'Ids are different from each other.',
    );
  }

  /** Takes a name as an id, with a number behind it where another item has it. */
  free(name: string, index: number): string {
    for (let number = 1; ; number += 1) {
      const id = number === 1 ? name : `${name}-${number}`;
      if (this.#ids.add(id, index) === undefined) return id;
    }
  }
}

/** The outputs of a plan: no two are one file on any file system, and none is a folder of another. */
class TakenOutputs {
  readonly #outputs = new Fingerprints();
  readonly #folders = new Fingerprints();

  /** @throws Failure (usage) naming both items */
  take(output: string, index: number, { source }: Named): void {
    const name = foldedName(output);
    const same = this.#outputs.add(name, index);
    if (same !== undefined) {
      throw usageFailure(
        `${source}: its output ${display(output)} is also that of item ${same} (letters that differ only in case, or in how an accent is written, may be one file)`,
        'Give them different names, for example with {dir} or {index} in --name.',
      );
    }
    const clash = this.#folders.ownerOf(name) ?? this.#clashAbove(name, index);
    if (clash === undefined) return;
    throw usageFailure(
      `${source}: its output ${display(output)} and that of item ${clash} need one name for a file and for a folder`,
      'Give one of them another name.',
    );
  }

  /** Notes the folders above an output; the item that is a file of that name, if there is one. */
  #clashAbove(name: string, index: number): number | undefined {
    for (let above = path.posix.dirname(name); above !== '.'; above = path.posix.dirname(above)) {
      const file = this.#outputs.ownerOf(above);
      if (file !== undefined) return file;
      // What is above a known folder was looked at with that.
      if (this.#folders.add(above, index) !== undefined) return undefined;
    }
    return undefined;
  }
}

/**
 * A set of strings of which only 85 bits each are kept, with the number of whoever came first: a hundred
 * thousand of them take 4 MB, whatever their length.
 */
export class Fingerprints {
  #low = new Float64Array(FIRST_SLOTS);
  #high = new Uint32Array(FIRST_SLOTS);
  #owner = new Int32Array(FIRST_SLOTS);
  #size = 0;

  /** Adds a string; gives the number of whoever added it before, who stays its owner. */
  add(text: string, owner: number): number | undefined {
    if (this.#size * 2 >= this.#owner.length) this.#grow();
    const print = printOf(text);
    const slot = this.#slotOf(print);
    const before = this.#owner[slot] ?? 0;
    if (before !== 0) return before - 1;
    this.#put(slot, print, owner + 1);
    this.#size += 1;
    return undefined;
  }

  /** The number of whoever added it. */
  ownerOf(text: string): number | undefined {
    const owner = this.#owner[this.#slotOf(printOf(text))] ?? 0;
    return owner === 0 ? undefined : owner - 1;
  }

  #slotOf({ low, high }: Print): number {
    const mask = this.#owner.length - 1;
    for (let slot = high & mask; ; slot = (slot + 1) & mask) {
      if (this.#owner[slot] === 0) return slot;
      if (this.#low[slot] === low && this.#high[slot] === high) return slot;
    }
  }

  #put(slot: number, { low, high }: Print, owner: number): void {
    this.#low[slot] = low;
    this.#high[slot] = high;
    this.#owner[slot] = owner;
  }

  #grow(): void {
    const [low, high, owner] = [this.#low, this.#high, this.#owner];
    this.#low = new Float64Array(owner.length * 2);
    this.#high = new Uint32Array(owner.length * 2);
    this.#owner = new Int32Array(owner.length * 2);
    for (let at = 0; at < owner.length; at += 1) {
      const number = owner[at] ?? 0;
      if (number === 0) continue;
      const print = { low: low[at] ?? 0, high: high[at] ?? 0 };
      this.#put(this.#slotOf(print), print, number);
    }
  }
}

interface Print {
  readonly low: number;
  readonly high: number;
}

/** A power of two. */
const FIRST_SLOTS = 1024;

function printOf(text: string): Print {
  const digest = createHash('sha256').update(text).digest();
  return {
    low: digest.readUIntBE(0, 6) * 32 + ((digest[6] ?? 0) & 31),
    high: digest.readUInt32BE(7),
  };
}
