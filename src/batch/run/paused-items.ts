import path from 'node:path';
import type { SpeechOrder } from '../../api/resources/speech.ts';
import { extensionOf } from '../../audio/formats.ts';
import { checksumOf } from '../../durable/checksum.ts';
import type { System } from '../../system/system.ts';
import { countCodePoints } from '../../text/code-points.ts';
import { BATCH_FOLDER, PART_ID } from '../journal/journal.ts';
import type { ItemStatus, JournalIndex } from '../journal/journal.ts';
import { bodyDigest } from '../journal/keys.ts';
import type { BatchItem } from '../plan/plan.ts';
import type { RerunOptions } from './batch-options.ts';
import type { Decision } from './decide.ts';
import { decide } from './decide.ts';

/** Returns the bytes that identify a request for the audio of an order. */
export type BodyOf = (order: SpeechOrder) => Uint8Array;

type PartedItem = Partial<BatchItem> & { readonly order: SpeechOrder };

/** Folder for the audio of parts whose items are unfinished. The path is relative to the output folder. */
export const PARTS_FOLDER = `${BATCH_FOLDER}/parts`;

/**
 * Returns the digest by which the journal identifies an item. For an item without pauses, this is the digest of the
 * request body. For an item with pauses, it covers the requests of all parts and the durations of the silences. A format
 * that foley encodes and changes of the sound are part of the digest, because items with one digest share one file.
 */
export function itemDigest(item: PartedItem, bodyOf: BodyOf): string {
  const { changes, encoding, order, parts } = item;
  const changed = changes === undefined ? [] : [changes.loudness ?? 'off', changes.trim === true];
  const made = [...(encoding === undefined ? [] : [encoding]), ...changed];
  if (parts === undefined) {
    const body = bodyOf(order);
    return bodyDigest(
      made.length === 0 ? body : Buffer.concat([Buffer.from(`as ${made.join(' ')} `), body]),
    );
  }
  const identity = [partDigests(item, bodyOf), parts.silences, ...made];
  return bodyDigest(Buffer.from(`parts ${JSON.stringify(identity)}`));
}

/**
 * Returns the digests by which the journal identifies the parts of an item. An item is split into parts at its pauses;
 * without pauses, the list is empty.
 */
export function partDigests({ order, parts }: PartedItem, bodyOf: BodyOf): readonly string[] {
  return (parts?.parts ?? []).map(({ text }) => partDigest(bodyOf({ ...order, text })));
}

// A part never shares its audio with an item of the same text.
function partDigest(body: Uint8Array): string {
  return bodyDigest(Buffer.concat([Buffer.from('part '), body]));
}

/** A text that the service has not billed yet. */
export interface UnpaidText {
  readonly order: SpeechOrder;
  readonly characters: number;
}

/**
 * A part of an item with pauses, and the decision how to get its audio. The journal records parts in the same way as
 * items.
 */
export interface ItemPart {
  /** A copy of the item that has only the text of this part. */
  readonly item: BatchItem;
  readonly body: string;
  readonly decision: PartDecision;
}

type PartDecision = Decision | { readonly kind: 'silent'; readonly status: ItemStatus };

interface PartOptions {
  readonly system: System;
  readonly index: JournalIndex;
  readonly origin: string;
  readonly rerun: RerunOptions;
}

/**
 * Decides what to do with each part of an item with pauses.
 * @param redo token of the `--redo` command that requested the item again; undefined if there was none
 */
export async function classifyParts(
  item: BatchItem,
  redo: string | undefined,
  bodyOf: BodyOf,
  options: PartOptions,
): Promise<readonly ItemPart[]> {
  // Only the joined audio is changed, encoded and tagged.
  const { changes: _, encoding: __, parts: paused, spoken: ___, tags: ____, ...rest } = item;
  const parts: ItemPart[] = [];
  for (const { text } of paused?.parts ?? []) {
    const order = { ...item.order, text };
    const body = partDigest(bodyOf(order));
    const decision = await decidePart(body, redo, options);
    parts.push({ item: { ...rest, order, characters: countCodePoints(text) }, body, decision });
  }
  return parts;
}

async function decidePart(
  body: string,
  redo: string | undefined,
  options: PartOptions,
): Promise<PartDecision> {
  const { index, origin } = options;
  const { retriesFailed } = options.rerun;
  const status = index.statusOf(PART_ID, body);
  const isNamed = redo !== undefined && status?.about?.redo !== redo;
  if (status !== undefined && isSilent(status) && !retriesFailed && !isNamed) {
    return { kind: 'silent', status };
  }
  const isPartial = status?.facts.isPartial === true;
  const isPresent = status !== undefined && (await hasAudio(status, options));
  const wasUsed = status?.state === 'published' && status.facts.jobId === undefined && !isPresent;
  return decide({
    status,
    origin,
    retriesFailed,
    lastGeneration: index.lastGeneration(body),
    isPresent: isPresent || (isPartial && retriesFailed),
    isElsewhere: false,
    // The audio of a delivered part is removed. An edited item that contains the part pays for it again, unless a job
    // still has the audio.
    isRedone: wasUsed || isNamed,
  });
}

/**
 * Returns whether a part is skipped because the service refused its text. Such a part is not billed and has no audio.
 */
export function isSilent({ facts, state }: ItemStatus): boolean {
  return state === 'failed' && facts.bytes === 0;
}

async function hasAudio(
  { about, facts }: ItemStatus,
  { rerun, system }: PartOptions,
): Promise<boolean> {
  if (about === undefined || facts.sha256 === undefined) return false;
  const file = path.join(rerun.outputDir, about.output);
  const digest = await checksumOf(file, 'sha256', system.files).catch(() => undefined);
  return digest === facts.sha256;
}

/** Returns the name of the file with the audio of a part, relative to the output folder. */
export function partOutput(body: string, generation: number, { order }: BatchItem): string {
  return `${PARTS_FOLDER}/${body}-${generation}.${extensionOf(order.format)}`;
}

/** Returns the parts that are not paid for yet, by the digest of the part. */
export function unpaidParts(parts: readonly ItemPart[]): ReadonlyMap<string, UnpaidText> {
  const unpaid = parts.filter(({ decision }) => decision.kind === 'speak');
  // Equal parts are bought once.
  return new Map(unpaid.map(({ body, item }) => [body, item]));
}

/**
 * Returns whether an item has parts and none of them needs another request. The audio of each part is stored, or the
 * service refused its text.
 */
export function isStored(parts: readonly ItemPart[]): boolean {
  return parts.length > 0 && parts.every(({ decision: { kind } }) => STORED.has(kind));
}

const STORED: ReadonlySet<PartDecision['kind']> = new Set(['skip', 'silent']);
