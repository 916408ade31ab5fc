import type { FamilyId } from '../../contract/families.ts';
import { DESIGN_LIFETIME_HOURS } from '../../contract/limits.ts';
import { PREVIEW_FORMAT } from '../../contract/values.ts';
import type { Clock } from '../../system/clock.ts';
import type { Random } from '../../system/random.ts';
import type { AudioFolder, StoredAudio } from '../speech/audio-files.ts';
import { writeSpeech } from '../speech/audio-files.ts';
import type { EncodeSpeech } from '../speech/encode.ts';
import type { EngineRegistry } from '../engine/speech-engine.ts';
import type { GenerationRequest } from '../speech/speak.ts';
import { generate, requireSettled } from '../speech/speak.ts';
import type { Connection } from '../store/connection.ts';
import { integer, text } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';
import { engineOf, engineValues } from './personal-voices.ts';
import type { WantedVoice } from './prompt-words.ts';
import { candidateVariations, describeWords } from './prompt-words.ts';
import { CUSTOM_VOICE_FAMILY, describeVariation, variedSource } from './voice-maker.ts';
import type { EngineSource } from './catalogue-voice.ts';
import { familyOf } from './catalogue-voice.ts';

/** A voice design: a prompt and the voices that the service proposes for it. */
export interface DesignRecord {
  /** Id of the design, which is also the id of the billed request. */
  readonly id: string;
  /** Number of billed characters: the length of the preview text times the number of previews. */
  readonly characters: number;
  readonly credits: number;
  readonly quotaRemaining: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly candidates: readonly CandidateRecord[];
}

export interface CandidateRecord {
  readonly id: string;
  readonly family: FamilyId;
  readonly language: string;
  readonly engine: EngineSource;
  readonly description: string;
}

/** A validated request for a design. */
export interface ValidatedDesign {
  readonly accountId: string;
  readonly wanted: WantedVoice;
  readonly language: string;
  readonly families: readonly FamilyId[];
  readonly previewText: string;
  readonly characters: number;
  readonly credits: number;
}

interface DesignDeps {
  readonly store: Store;
  readonly audio: AudioFolder;
  readonly clock: Clock;
  readonly random: Random;
  readonly encode: EncodeSpeech;
  readonly engines: EngineRegistry;
}

const LIFETIME_MS = DESIGN_LIFETIME_HOURS * 60 * 60 * 1_000;

/** Creates and stores the voice designs of all accounts (docs/api/voice-design.md). */
export class Designs {
  readonly #deps: DesignDeps;

  constructor(deps: DesignDeps) {
    this.#deps = deps;
  }

  /**
   * Proposes voices and saves a preview of each. Charges the account when all previews are complete.
   * @throws ServiceError 400 if the text cannot be spoken, 500 for other failures; neither costs credits
   */
  make(request: GenerationRequest, order: ValidatedDesign): Promise<DesignRecord> {
    const { clock, store } = this.#deps;
    const { operation } = request;
    const { id } = operation;
    const { accountId, characters, credits } = order;
    return generate(request, 'previewText', async (generation) => {
      const createdAt = clock.now();
      const expiresAt = createdAt + LIFETIME_MS;
      // Stored before the files, so that `sweep` finds the files after a crash.
      store.write((db) =>
        db.run(
          `INSERT INTO voice_design (id, account_id, characters, credits, created_at, expires_at)
           VALUES (?, ?, ?, ?, ?, ?)`,
          [id, accountId, characters, credits, createdAt, expiresAt],
        ),
      );
      try {
        const candidates = await this.#speakCandidates(id, order, generation.signal);
        const quotaRemaining = requireSettled(operation.commit()).quota;
        const billed = { characters, credits, quotaRemaining };
        const design = { id, ...billed, createdAt, expiresAt, candidates };
        requireSettled(operation.complete((db) => completeDesign(db, design)) || undefined);
        generation.end();
        return design;
      } catch (error) {
        await this.#remove(id).catch(() => undefined);
        throw error;
      }
    });
  }

  find(accountId: string, id: string): DesignRecord | undefined {
    const now = this.#deps.clock.now();
    return this.#deps.store.read((db) => findDesign(db, { id, accountId, now }));
  }

  preview(design: DesignRecord, candidate: CandidateRecord): Promise<StoredAudio | undefined> {
    return this.#deps.audio.find(design.id, fileOf(candidate.id));
  }

  async sweep(): Promise<void> {
    const { clock, store } = this.#deps;
    const expired = store.read((db) =>
      db.all('SELECT id FROM voice_design WHERE expires_at <= ?', [clock.now()]),
    );
    for (const row of expired) await this.#remove(text(row, 'id'));
  }

  async #speakCandidates(
    designId: string,
    { families, language, previewText, wanted }: ValidatedDesign,
    signal: AbortSignal,
  ): Promise<readonly CandidateRecord[]> {
    const { audio, encode, engines, random } = this.#deps;
    const candidates: CandidateRecord[] = [];
    for (const [index, variation] of candidateVariations(wanted.variation).entries()) {
      const engine = variedSource(variation);
      const { name, pitch, speed, voice } = engine;
      const speaker = engines.find(name, voice)?.engine;
      if (speaker === undefined) throw new Error('The service has no built-in engine.');
      const id = random.uuid();
      const output = await audio.create(designId, fileOf(id));
      try {
        const chunks = speaker.synthesize({ text: previewText, voice, pitch, speed }, signal);
        await writeSpeech({ output, encode, format: PREVIEW_FORMAT, gainDb: 0 }, chunks);
        signal.throwIfAborted();
      } catch (error) {
        await output.abandon();
        throw error;
      }
      const family = families[index % families.length] ?? CUSTOM_VOICE_FAMILY;
      const description = `Simulated: ${describeVariation(variation)}; ${describeWords(wanted)}`;
      candidates.push({ id, family, language, engine, description });
    }
    return candidates;
  }

  async #remove(id: string): Promise<void> {
    await this.#deps.audio.discard(id);
    this.#deps.store.write((db) => {
      db.run('DELETE FROM voice_candidate WHERE design_id = ?', [id]);
      db.run('DELETE FROM voice_design WHERE id = ?', [id]);
    });
  }
}

function fileOf(candidateId: string): string {
  return `${candidateId}.${PREVIEW_FORMAT}`;
}

function completeDesign(db: Connection, { candidates, id, quotaRemaining }: DesignRecord): void {
  db.run('UPDATE voice_design SET quota_remaining = ? WHERE id = ?', [quotaRemaining, id]);
  for (const [number, candidate] of candidates.entries()) {
    const { description, family, language, engine } = candidate;
    db.run(
      `INSERT INTO voice_candidate (design_id, number, id, description, family, language, engine,
         engine_voice, pitch, speed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [id, number, candidate.id, description, family, language, ...engineValues(engine)],
    );
  }
}

/** Returns a design of the account; `undefined` if the design is incomplete, expired or unknown. */
export function findDesign(
  db: Connection,
  { id, accountId, now }: { readonly id: string; readonly accountId: string; readonly now: number },
): DesignRecord | undefined {
  const row = db.get(
    `SELECT * FROM voice_design
     WHERE id = ? AND account_id = ? AND quota_remaining IS NOT NULL AND expires_at > ?`,
    [id, accountId, now],
  );
  if (row === undefined) return undefined;
  const rows = db.all('SELECT * FROM voice_candidate WHERE design_id = ? ORDER BY number', [id]);
  return {
    id,
    characters: integer(row, 'characters'),
    credits: integer(row, 'credits'),
    quotaRemaining: integer(row, 'quota_remaining'),
    createdAt: integer(row, 'created_at'),
    expiresAt: integer(row, 'expires_at'),
    candidates: rows.map((candidate) => ({
      id: text(candidate, 'id'),
      description: text(candidate, 'description'),
      family: familyOf({ family: text(candidate, 'family') }).id,
      language: text(candidate, 'language'),
      engine: engineOf(candidate),
    })),
  };
}
