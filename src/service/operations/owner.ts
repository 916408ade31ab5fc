import type { Clock } from '../../effects/clock.ts';
import type { Processes } from '../../effects/processes.ts';
import type { Connection, Row } from '../store/connection.ts';
import { integer, optionalText, text } from '../store/connection.ts';

/**
 * Who works on what is in progress. An owner that can be looked up is dead when its process is;
 * one that cannot (another machine, another container) is dead when it stopped renewing its lease.
 */
export interface Owner {
  readonly id: string;
  /** Writes the owner down, or renews its lease; part of the caller's transaction. */
  renew(db: Connection): void;
  /** Whether the owner in this row (`owner.*`) can no longer finish what it began. */
  isDead(row: Row): boolean;
}

/** How long an owner counts as alive after it was last heard of, where nothing else is known. */
export const LEASE_MS = 120_000;

interface OwnerDeps {
  readonly id: string;
  readonly clock: Clock;
  readonly processes: Processes;
}

/** This process as an owner, under a random id. */
export function createOwner({ id, clock, processes }: OwnerDeps): Owner {
  const { self } = processes;
  return {
    id,
    renew(db) {
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
    isDead(row) {
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

/** Whether what has not ended is nobody's, or somebody's who can no longer finish it. */
export function isAbandoned(db: Connection, ownerId: string | undefined, self: Owner): boolean {
  if (ownerId === undefined) return true;
  const row = db.get('SELECT * FROM owner WHERE id = ?', [ownerId]);
  return row === undefined || self.isDead(row);
}

/** Takes an owner off the list, unless something is still in its name. */
export function forgetOwner(db: Connection, id: string): void {
  db.run(
    `DELETE FROM owner WHERE id = ?1
       AND NOT EXISTS (SELECT 1 FROM operation WHERE owner_id = ?1)
       AND NOT EXISTS (SELECT 1 FROM job WHERE owner_id = ?1)`,
    [id],
  );
}

/** This process as the owner of what it works on. */
export interface Ownership {
  readonly owner: Owner;
  /** Keeps the lease of this process renewed until the function that it gives is called. */
  hold(): () => void;
}
