import type { Clock } from '../../system/clock.ts';
import type { Processes } from '../../system/processes.ts';
import type { Connection, Row } from '../store/connection.ts';
import { integer, optionalText, text } from '../store/connection.ts';

/** A process that owns unfinished requests or jobs. */
export type Owner = ReturnType<typeof createOwner>;

/** Duration of a process's lease in milliseconds. Each renewal starts this time again. */
export const LEASE_MS = 120_000;

/**
 * Creates the functions that register this process in the table `owner`, and that check whether other owners are alive.
 * @param id random id of this process
 */
export function createOwner(id: string, clock: Clock, processes: Processes) {
  const { self } = processes;
  return {
    id,
    /** Registers the owner or renews its lease, in the caller's transaction. */
    renew(db: Connection): void {
      db.run(
        `INSERT INTO owner (id, pid, host, boot_id, pid_namespace, process_start, lease_until)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (id) DO UPDATE SET lease_until = ?7`,
        [
          id,
          self.pid,
          self.host,
          self.bootId ?? null,
          self.pidNamespace ?? null,
          self.processStart ?? null,
          clock.now() + LEASE_MS,
        ],
      );
    },
    /**
     * Returns whether the process in a row of the table `owner` is dead. A process that cannot be checked, for example
     * on another machine, counts as dead after its lease has expired.
     */
    isDead(row: Row): boolean {
      if (text(row, 'id') === id) return false;
      const liveness = processes.liveness({
        pid: integer(row, 'pid'),
        host: text(row, 'host'),
        bootId: optionalText(row, 'boot_id'),
        pidNamespace: optionalText(row, 'pid_namespace'),
        processStart: optionalText(row, 'process_start'),
      });
      if (liveness === 'unknown') return clock.now() > integer(row, 'lease_until');
      return liveness === 'dead';
    },
  };
}

/** Returns whether the owner of a billed request (operation) or a job is missing or dead. */
export function isAbandoned(db: Connection, ownerId: string | undefined, self: Owner): boolean {
  if (ownerId === undefined) return true;
  const row = db.get('SELECT * FROM owner WHERE id = ?', [ownerId]);
  return row === undefined || self.isDead(row);
}

/** Deletes a process from the table `owner`, unless it still owns billed requests (operations) or jobs. */
export function forgetOwner(db: Connection, id: string): void {
  db.run(
    `DELETE FROM owner WHERE id = ?1
       AND NOT EXISTS (SELECT 1 FROM operation WHERE owner_id = ?1)
       AND NOT EXISTS (SELECT 1 FROM job WHERE owner_id = ?1)`,
    [id],
  );
}

/**
 * The identity of this process as an owner of requests and jobs, with a function that keeps renewing the lease of the
 * process.
 */
export interface Ownership {
  readonly owner: Owner;
  /** Keeps the lease of this process renewed until the returned function is called. */
  hold(): () => void;
}
