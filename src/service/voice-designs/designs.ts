import { PREVIEW_FORMAT } from '../../contract/audio-formats.ts';
import { DESIGN_LIFETIME_HOURS } from '../../contract/limits.ts';
import type { Clock } from '../../effects/clock.ts';
import type { Output } from '../../files/output.ts';
import type { AudioFolder } from '../audio-files/audio-folder.ts';
import type { StoredAudio } from '../audio-files/stored-audio.ts';
import type { Connection } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';
import type { CandidateRecord, DesignRecord } from './design-records.ts';
import {
  announceDesign,
  completeDesign,
  findDesign,
  findExpiredDesigns,
  forgetDesign,
} from './design-records.ts';

/** Designs of every account, for as long as they are kept (spec section 2.8). */
export interface Designs {
  /** Makes room for a design under the id of its operation. */
  begin(design: Pick<DesignRecord, 'id' | 'accountId' | 'characters' | 'credits'>): DesignWriting;
  /** A design of the account, while it is there. */
  find(accountId: string, id: string): DesignRecord | undefined;
  /** The preview of a candidate, while it is there. */
  preview(design: DesignRecord, candidate: CandidateRecord): Promise<StoredAudio | undefined>;
  /** Removes what has expired. */
  sweep(): Promise<void>;
}

/** A design on its way into the store. */
export interface DesignWriting {
  /** Opens the preview of a candidate to be written. @throws Failure when it cannot be */
  create(candidateId: string): Promise<Output>;
  /** Part of the transaction that completes the operation; gives what there is then. */
  ready(db: Connection, made: Pick<DesignRecord, 'quotaRemaining' | 'candidates'>): DesignRecord;
  /** Removes what there is of it; never throws. */
  discard(): Promise<void>;
}

export interface DesignsDeps {
  readonly store: Store;
  readonly folder: AudioFolder;
  readonly clock: Clock;
}

const KEPT_MS = DESIGN_LIFETIME_HOURS * 60 * 60 * 1_000;

export function createDesigns({ store, folder, clock }: DesignsDeps): Designs {
  const remove = async (id: string): Promise<void> => {
    await folder.discard(id);
    store.write((db) => forgetDesign(db, id));
  };
  return {
    begin(request) {
      const { id } = request;
      const createdAt = clock.now();
      const design = { ...request, createdAt, expiresAt: createdAt + KEPT_MS };
      store.write((db) => announceDesign(db, design));
      return {
        create: (candidateId) => folder.create(id, fileOf(candidateId)),
        ready(db, made) {
          completeDesign(db, { id, ...made });
          return { ...design, ...made };
        },
        discard: () => remove(id).catch(() => undefined),
      };
    },
    find: (accountId, id) =>
      store.read((db) => findDesign(db, { id, accountId, now: clock.now() })),
    preview: (design, candidate) => folder.find(design.id, fileOf(candidate.id)),
    async sweep() {
      for (const id of store.read((db) => findExpiredDesigns(db, clock.now()))) await remove(id);
    },
  };
}

function fileOf(candidateId: string): string {
  return `${candidateId}.${PREVIEW_FORMAT}`;
}
