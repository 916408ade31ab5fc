import type { Connection } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';

/**
 * Ends that could not be written, as when the database was held too long. Nothing whole was delivered
 * then, so each is given back with the next write that this process does.
 */
export interface UnsettledEnds {
  /** @param onEnd called when it is settled */
  add(operationId: string, onEnd: () => void): void;
  /** Runs `work` as one transaction, together with what is left to be settled. */
  readonly write: <Result>(work: (db: Connection) => Result) => Result;
}

export function createUnsettledEnds(
  store: Store,
  giveBack: (db: Connection, operationId: string) => void,
): UnsettledEnds {
  const left = new Map<string, () => void>();
  return {
    add: (operationId, onEnd) => void left.set(operationId, onEnd),
    write(work) {
      const ends = [...left];
      const result = store.write((db) => {
        for (const [id] of ends) giveBack(db, id);
        return work(db);
      });
      for (const [id, onEnd] of ends) {
        left.delete(id);
        onEnd();
      }
      return result;
    },
  };
}
