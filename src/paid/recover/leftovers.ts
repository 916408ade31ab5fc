import { basename, join } from 'node:path';
import { stateFailure } from '../../durable/file-failures.ts';
import { removeTemporary } from '../../durable/files.ts';
import type { System } from '../../system/system.ts';
import type { Spool, SpoolEntry } from '../../durable/spool.ts';
import { Failure } from '../../errors/failure.ts';
import type { IntentJournal, OpenIntent } from '../intents.ts';
import { mayRun } from '../intents.ts';
import type { InterruptedText, LongTexts } from '../parts/record.ts';

export const COMMAND_RECORD = 'the record of an interrupted command';

/** A leftover of an interrupted command: audio, an open request, a long text, or a damaged file. */
export type Leftover =
  /**
   * Audio in the spool. `intent` is the request for this audio; undefined if the journal lists no open request for it.
   */
  | {
      readonly kind: 'audio';
      readonly id: string;
      readonly entry: SpoolEntry;
      readonly intent: OpenIntent | undefined;
    }
  | { readonly kind: 'request'; readonly id: string; readonly intent: OpenIntent }
  | { readonly kind: 'text'; readonly id: string; readonly left: InterruptedText }
  | DamagedRecord;

/** A damaged file of foley's state. foley keeps it until the user runs `foley recover --forget ID`. */
export interface DamagedRecord {
  readonly kind: 'damaged';
  readonly id: string;
  /** Path of the damaged file or folder, followed by the other files to remove together with it. */
  readonly paths: readonly string[];
  /** Description of the file's content for messages, such as `80 bytes of audio without their metadata`. */
  readonly holds: string;
  /** True if the file still lists requests that have not ended. Such a file cannot be removed. */
  readonly isInUse?: boolean;
}

/**
 * Lists the leftovers of interrupted commands: audio in the spool, open requests without audio, long texts and damaged
 * files.
 */
export function leftovers(
  entries: readonly SpoolEntry[],
  intents: readonly OpenIntent[],
  texts: readonly InterruptedText[] = [],
  damaged: readonly DamagedRecord[] = [],
): readonly Leftover[] {
  const intentOf = (entry: SpoolEntry): OpenIntent | undefined =>
    intents.find(({ id }) => id === entry.record?.operation);
  const withAudio = new Set(entries.map(({ record }) => record?.operation));
  return [
    ...entries.map((entry): Leftover => {
      const { bytes, id, path, record, sidecar } = entry;
      if (record !== undefined) return { kind: 'audio', id, entry, intent: intentOf(entry) };
      const holds = `${bytes} bytes of audio without their metadata`;
      return { kind: 'damaged', id, paths: [path, sidecar], holds };
    }),
    ...intents
      .filter(({ id }) => !withAudio.has(id))
      .map((intent) => ({ kind: 'request', id: intent.id, intent }) as const),
    ...texts.map((left) => ({ kind: 'text', id: left.id, left }) as const),
    ...damaged,
  ];
}

/**
 * Removes the files of an interrupted command without recovering the result.
 * @throws Failure of kind `state` when the command is still running, or the files cannot be removed
 */
export async function forget(
  leftover: Leftover,
  journal: IntentJournal,
  spool: Spool,
  { folder, system }: LongTexts,
): Promise<void> {
  const abandon = async (intent: OpenIntent): Promise<void> => {
    if (mayRun(intent, system.clock)) throw stillRunning(intent.id);
    await journal.settle(intent, 'abandoned');
  };
  switch (leftover.kind) {
    case 'audio':
      if (leftover.intent !== undefined) await abandon(leftover.intent);
      return spool.remove(leftover.entry);
    case 'request':
      return abandon(leftover.intent);
    case 'text': {
      const { id, plan, temporaries, writer } = leftover.left;
      if (mayRun({ at: plan.at, writer }, system.clock)) throw stillRunning(id);
      for (const temporary of temporaries) await removeTemporary(system, temporary);
      return removeAll([join(folder, basename(id))], system);
    }
    case 'damaged':
      if (leftover.isInUse === true) throw stillNeeded(leftover);
      return removeAll(leftover.paths, system);
  }
}

async function removeAll(paths: readonly string[], { files }: System): Promise<void> {
  for (const file of paths) {
    await files.rm(file, { recursive: true, force: true }).catch((error: unknown) => {
      throw stateFailure(COMMAND_RECORD, file, error);
    });
  }
}

function stillRunning(id: string): Failure {
  return new Failure(`a running command still uses request ${id}`, {
    code: 'state',
    exit: 'state',
    hint: 'Wait until that command has ended, or stop it.',
  });
}

function stillNeeded({ id, paths: [file] }: DamagedRecord): Failure {
  return new Failure(`${file} contains requests that have not ended`, {
    code: 'state',
    exit: 'state',
    hint: `Run \`foley recover\`, then \`foley recover --forget ${id}\`.`,
  });
}
