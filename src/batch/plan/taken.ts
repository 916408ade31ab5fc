import path from 'node:path';
import { usageFailure } from '../../errors/failure.ts';
import { display } from '../../text/display.ts';
import { Fingerprints } from './fingerprints.ts';
import { foldedName } from './name-template.ts';

interface Named {
  readonly source: string;
}

/** The ids of a plan, of which no two are the same. */
export class TakenIds {
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
export class TakenOutputs {
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
