import type { FamilyId } from '../../contract/families.ts';
import { DESIGN_LIFETIME_HOURS } from '../../contract/limits.ts';
import { PREVIEW_FORMAT } from '../../contract/values.ts';
import type { Output } from '../../durable/output.ts';
import type { Clock } from '../../effects/clock.ts';
import type { AudioFolder, StoredAudio } from '../speech/audio-files.ts';
import { writeSpeech } from '../speech/audio-files.ts';
import type { Connection } from '../store/connection.ts';
import { integer, text } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';
import { engineOf, engineValues, familyIn } from './personal-voices.ts';
import type { EngineSource } from './voices.ts';
import type { Random } from '../../effects/random.ts';
import type { EncodeSpeech } from '../speech/encode.ts';
import type { Generating } from '../speech/speak.ts';
import { generate, requireSettled } from '../speech/speak.ts';
import type { MeasuredVoices } from './voice-maker.ts';
import { rounded, MADE_FAMILY } from './voice-maker.ts';

/** Stored designs of all accounts (docs/api/voice-design.md). */
export interface Designs {
  /** Starts a design under the id of its operation. */
  begin(design: Pick<DesignRecord, 'id' | 'accountId' | 'characters' | 'credits'>): DesignWriting;
  /** Returns a design of the account unless it has expired. */
  find(accountId: string, id: string): DesignRecord | undefined;
  /** Returns the preview of a candidate unless it has expired. */
  preview(design: DesignRecord, candidate: CandidateRecord): Promise<StoredAudio | undefined>;
  /** Deletes expired designs. */
  sweep(): Promise<void>;
}

/** A design that is being stored. */
interface DesignWriting {
  /** Opens the preview file of a candidate. @throws Failure when it cannot be written */
  create(candidateId: string): Promise<Output>;
  /** Marks it as complete, inside the transaction that completes the operation. */
  ready(db: Connection, made: Pick<DesignRecord, 'quotaRemaining' | 'candidates'>): DesignRecord;
  /** Deletes it; never throws. */
  discard(): Promise<void>;
}

export interface DesignRecord {
  /** Id of the operation that paid for it. */
  readonly id: string;
  readonly accountId: string;
  /** Of all previews together. */
  readonly characters: number;
  readonly credits: number;
  readonly quotaRemaining: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly candidates: readonly CandidateRecord[];
}

/** A voice that a design proposes. */
export interface CandidateRecord {
  readonly id: string;
  readonly family: FamilyId;
  /** Of the engine's voice. */
  readonly language: string;
  readonly engine: EngineSource;
  readonly description: string;
}

const LIFETIME_MS = DESIGN_LIFETIME_HOURS * 60 * 60 * 1_000;

export function createDesigns({
  store,
  folder,
  clock,
}: {
  readonly store: Store;
  readonly folder: AudioFolder;
  readonly clock: Clock;
}): Designs {
  const remove = async (id: string): Promise<void> => {
    await folder.discard(id);
    store.write((db) => {
      db.run('DELETE FROM voice_candidate WHERE design_id = ?', [id]);
      db.run('DELETE FROM voice_design WHERE id = ?', [id]);
    });
  };
  return {
    begin(request) {
      const { id, accountId, characters, credits } = request;
      const createdAt = clock.now();
      const expiresAt = createdAt + LIFETIME_MS;
      // Recorded first, so that a sweep deletes the files whatever happens.
      store.write((db) =>
        db.run(
          `INSERT INTO voice_design (id, account_id, characters, credits, created_at, expires_at)
           VALUES (?, ?, ?, ?, ?, ?)`,
          [id, accountId, characters, credits, createdAt, expiresAt],
        ),
      );
      return {
        create: (candidateId) => folder.create(id, fileOf(candidateId)),
        ready(db, made) {
          completeDesign(db, id, made.quotaRemaining, made.candidates);
          return { ...request, createdAt, expiresAt, ...made };
        },
        discard: () => remove(id).catch(() => undefined),
      };
    },
    find: (accountId, id) =>
      store.read((db) => findDesign(db, { id, accountId, now: clock.now() })),
    preview: (design, candidate) => folder.find(design.id, fileOf(candidate.id)),
    async sweep() {
      const expired = store.read((db) =>
        db.all('SELECT id FROM voice_design WHERE expires_at <= ?', [clock.now()]),
      );
      for (const row of expired) await remove(text(row, 'id'));
    },
  };
}

function completeDesign(
  db: Connection,
  id: string,
  quotaRemaining: number,
  candidates: readonly CandidateRecord[],
): void {
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

/** Returns a complete design of the account unless it has expired. */
export function findDesign(
  db: Connection,
  { id, accountId, now }: Pick<DesignRecord, 'id' | 'accountId'> & { readonly now: number },
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
    accountId,
    characters: integer(row, 'characters'),
    credits: integer(row, 'credits'),
    quotaRemaining: integer(row, 'quota_remaining'),
    createdAt: integer(row, 'created_at'),
    expiresAt: integer(row, 'expires_at'),
    candidates: rows.map((candidate) => ({
      id: text(candidate, 'id'),
      description: text(candidate, 'description'),
      family: familyIn(candidate),
      language: text(candidate, 'language'),
      engine: engineOf(candidate),
    })),
  };
}

export interface DesignDeps {
  readonly designs: Designs;
  readonly voices: MeasuredVoices;
  readonly encode: EncodeSpeech;
  readonly random: Random;
}

export interface DesignOrder {
  readonly accountId: string;
  readonly traits: VoiceTraits;
  /** One that an engine speaks. */
  readonly language: string;
  readonly families: readonly FamilyId[];
  readonly previewText: string;
  readonly characters: number;
  readonly credits: number;
}

/**
 * Proposes voices and writes a preview of each; charges for them when all exist (docs/api/voice-design.md).
 * @throws ServiceError 400 for a text that cannot be spoken, 500 for anything else, refunded
 */
export function makeDesign(
  deps: DesignDeps,
  generating: Generating,
  order: DesignOrder,
): Promise<DesignRecord> {
  const { operation } = generating;
  return generate(generating, async (generation) => {
    const { accountId, characters, credits } = order;
    const writing = deps.designs.begin({ id: operation.id, accountId, characters, credits });
    try {
      const candidates = await speakCandidates(deps, order, writing, generation.signal);
      const quotaRemaining = requireSettled(operation.commit()).quota;
      let design: DesignRecord | undefined;
      operation.complete((db) => {
        design = writing.ready(db, { quotaRemaining, candidates });
      });
      const settled = requireSettled(design);
      generation.end();
      return settled;
    } catch (error) {
      await writing.discard();
      throw error;
    }
  });
}

/** How each candidate differs from the prompt's traits. */
const VARIATIONS = [
  { pitch: 1, speed: 1 },
  { pitch: 0.92, speed: 0.95 },
  { pitch: 1.08, speed: 1.05 },
] as const;

/** How many voices a design proposes. */
export const CANDIDATES = VARIATIONS.length;

/** Chooses the engine voices nearest in pitch, and stores their previews. */
async function speakCandidates(
  { voices, encode, random }: DesignDeps,
  order: DesignOrder,
  writing: DesignWriting,
  signal: AbortSignal,
): Promise<readonly CandidateRecord[]> {
  const { traits, language, families, previewText } = order;
  const candidates: CandidateRecord[] = [];
  for (const [index, variation] of VARIATIONS.entries()) {
    const medianHz = traits.medianHz * variation.pitch;
    const nearest = await voices.nearest({ medianHz, language }, signal);
    const engine = { ...nearest.engine, speed: rounded(traits.speed * variation.speed) };
    const { voice, pitch, speed } = engine;
    const id = random.uuid();
    const output = await writing.create(id);
    try {
      const chunks = nearest.speaker.synthesize({ text: previewText, voice, pitch, speed }, signal);
      await writeSpeech({ output, encode, format: PREVIEW_FORMAT, gainDb: 0 }, chunks);
      signal.throwIfAborted();
    } catch (error) {
      await output.abandon();
      throw error;
    }
    const family = families[index % families.length] ?? MADE_FAMILY;
    const description = describe(traits, engine, medianHz);
    candidates.push({ id, family, language: nearest.language, engine, description });
  }
  return candidates;
}

function describe({ words }: VoiceTraits, engine: EngineSource, medianHz: number): string {
  const source = `the nearest engine voice (${engine.voice} of ${engine.name})`;
  const changed = `its pitch and speed changed to about ${Math.round(medianHz)} Hz and ${Math.round(engine.speed * 100)} %`;
  const reason =
    words.length === 0
      ? 'no word of the prompt is known here'
      : `from the words ${words.join(', ')}`;
  return `Simulated: ${source} with ${changed}; ${reason}`;
}

/** What a prompt asks for; docs/voice-design.md has the table of words. */
interface VoiceTraits {
  /** Median pitch in hertz. */
  readonly medianHz: number;
  /** Multiplies the engine voice's own speed. */
  readonly speed: number;
  /** Code of the language or accent in the prompt. */
  readonly language: string | undefined;
  /** The known words of the prompt, in lower case. */
  readonly words: readonly string[];
}

/** The effect of a group of words. */
interface PromptRule {
  readonly about: 'voice' | 'age' | 'pitch' | 'speed' | 'language';
  readonly words: readonly string[];
  /** Base pitch, multiplied by the other rules. */
  readonly medianHz?: number;
  readonly pitch?: number;
  readonly speed?: number;
  readonly language?: string;
}

/** Between a woman's and a man's. */
const DEFAULT_HZ = 150;

export const PROMPT_RULES: readonly PromptRule[] = [
  { about: 'voice', words: ['woman', 'female', 'lady', 'she', 'her'], medianHz: 195 },
  { about: 'voice', words: ['man', 'male', 'gentleman', 'he', 'his'], medianHz: 112 },
  { about: 'voice', words: ['girl', 'boy', 'child', 'kid'], medianHz: 270 },
  { about: 'age', words: ['young', 'teenage', 'teenager'], pitch: 1.06, speed: 1.04 },
  { about: 'age', words: ['old', 'older', 'elderly'], pitch: 0.93, speed: 0.88 },
  { about: 'pitch', words: ['deep', 'low'], pitch: 0.82 },
  { about: 'pitch', words: ['high', 'squeaky'], pitch: 1.22 },
  { about: 'speed', words: ['slow', 'slowly'], speed: 0.8 },
  { about: 'speed', words: ['fast', 'quick', 'quickly'], speed: 1.22 },
  { about: 'language', words: ['american'], language: 'en-US' },
  { about: 'language', words: ['british'], language: 'en-GB' },
  { about: 'language', words: ['german'], language: 'de' },
  { about: 'language', words: ['french'], language: 'fr' },
  { about: 'language', words: ['spanish'], language: 'es' },
  { about: 'language', words: ['italian'], language: 'it' },
  { about: 'language', words: ['portuguese'], language: 'pt' },
];

/**
 * Finds known English words in a prompt; the last word of each group counts. Grammar does not: "not
 * slow" is slow.
 */
export function traitsOf(prompt: string): VoiceTraits {
  const rules = new Map<PromptRule['about'], PromptRule>();
  const words = new Set<string>();
  for (const word of prompt.toLowerCase().match(/[a-z]+/g) ?? []) {
    const rule = PROMPT_RULES.find((one) => one.words.includes(word));
    if (rule === undefined) continue;
    rules.set(rule.about, rule);
    words.add(word);
  }
  const product = (name: 'pitch' | 'speed'): number =>
    [...rules.values()].reduce((all, rule) => all * (rule[name] ?? 1), 1);
  return {
    medianHz: (rules.get('voice')?.medianHz ?? DEFAULT_HZ) * product('pitch'),
    speed: product('speed'),
    language: rules.get('language')?.language,
    words: [...words],
  };
}

function fileOf(candidateId: string): string {
  return `${candidateId}.${PREVIEW_FORMAT}`;
}
