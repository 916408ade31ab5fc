import type { FamilyId } from '../../contract/families.ts';
import { DESIGN_LIFETIME_HOURS } from '../../contract/limits.ts';
import { PREVIEW_FORMAT } from '../../contract/values.ts';
import type { Clock } from '../../effects/clock.ts';
import type { Random } from '../../effects/random.ts';
import type { AudioFolder, StoredAudio } from '../speech/audio-files.ts';
import { writeSpeech } from '../speech/audio-files.ts';
import type { EncodeSpeech } from '../speech/encode.ts';
import type { GenerationRequest } from '../speech/speak.ts';
import { generate, requireSettled } from '../speech/speak.ts';
import type { Connection } from '../store/connection.ts';
import { integer, text } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';
import { engineOf, engineValues } from './personal-voices.ts';
import type { MeasuredVoices } from './voice-maker.ts';
import { CUSTOM_VOICE_FAMILY, rounded } from './voice-maker.ts';
import type { EngineSource } from './voices.ts';
import { familyOf } from './voices.ts';

/** A voice design: a prompt and the voices that the service proposes for it. */
export interface DesignRecord {
  /** Id of the design, which is also the id of the billed request. */
  readonly id: string;
  readonly accountId: string;
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
export interface DesignRequest {
  readonly accountId: string;
  readonly traits: VoiceTraits;
  /** Language code of the voices. At least one engine voice with an adjustable pitch speaks this language. */
  readonly language: string;
  readonly families: readonly FamilyId[];
  readonly previewText: string;
  readonly characters: number;
  readonly credits: number;
}

interface DesignDeps {
  readonly store: Store;
  readonly folder: AudioFolder;
  readonly clock: Clock;
  readonly random: Random;
  readonly encode: EncodeSpeech;
  readonly voices: MeasuredVoices;
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
  make(generating: GenerationRequest, order: DesignRequest): Promise<DesignRecord> {
    const { clock, store } = this.#deps;
    const { operation } = generating;
    const { id } = operation;
    const { accountId, characters, credits } = order;
    return generate(generating, async (generation) => {
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
        const billed = { id, accountId, characters, credits, quotaRemaining };
        const design = { ...billed, createdAt, expiresAt, candidates };
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
    return this.#deps.folder.find(design.id, fileOf(candidate.id));
  }

  async sweep(): Promise<void> {
    const { clock, store } = this.#deps;
    const expired = store.read((db) =>
      db.all('SELECT id FROM voice_design WHERE expires_at <= ?', [clock.now()]),
    );
    for (const row of expired) await this.#remove(text(row, 'id'));
  }

  // Uses the engine voices with the nearest pitch.
  async #speakCandidates(
    designId: string,
    { families, language, previewText, traits }: DesignRequest,
    signal: AbortSignal,
  ): Promise<readonly CandidateRecord[]> {
    const { encode, folder, random, voices } = this.#deps;
    const candidates: CandidateRecord[] = [];
    for (const [index, variation] of VARIATIONS.entries()) {
      const medianHz = traits.medianHz * variation.pitch;
      const nearest = await voices.nearest({ medianHz, language }, signal);
      const engine = { ...nearest.engine, speed: rounded(traits.speed * variation.speed) };
      const { voice, pitch, speed } = engine;
      const id = random.uuid();
      const output = await folder.create(designId, fileOf(id));
      try {
        const request = { text: previewText, voice, pitch, speed };
        const chunks = nearest.speaker.synthesize(request, signal);
        await writeSpeech({ output, encode, format: PREVIEW_FORMAT, gainDb: 0 }, chunks);
        signal.throwIfAborted();
      } catch (error) {
        await output.abandon();
        throw error;
      }
      const family = families[index % families.length] ?? CUSTOM_VOICE_FAMILY;
      const description = describe(traits, engine, medianHz);
      candidates.push({ id, family, language: nearest.language, engine, description });
    }
    return candidates;
  }

  async #remove(id: string): Promise<void> {
    await this.#deps.folder.discard(id);
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
      family: familyOf({ family: text(candidate, 'family') }).id,
      language: text(candidate, 'language'),
      engine: engineOf(candidate),
    })),
  };
}

// Factors for pitch and speed that make the candidates differ.
const VARIATIONS = [
  { pitch: 1, speed: 1 },
  { pitch: 0.92, speed: 0.95 },
  { pitch: 1.08, speed: 1.05 },
] as const;

/** Number of voices that a design proposes. */
export const CANDIDATES = VARIATIONS.length;

function describe({ words }: VoiceTraits, engine: EngineSource, medianHz: number): string {
  const source = `the nearest engine voice (${engine.voice} of ${engine.name})`;
  const changed = `its pitch and speed changed to about ${Math.round(medianHz)} Hz and ${Math.round(engine.speed * 100)} %`;
  const reason =
    words.length === 0 ? 'no known word in the prompt' : `from the words ${words.join(', ')}`;
  return `Simulated: ${source} with ${changed}; ${reason}`;
}

// The properties of a voice that the known words of a prompt request (docs/voice-design.md).
interface VoiceTraits {
  readonly medianHz: number;
  /** Factor by which the default speed of the engine voice is multiplied. */
  readonly speed: number;
  /** Code of the language or accent that the prompt names. */
  readonly language: string | undefined;
  /** The words of the prompt that describe the voice, in lower case. */
  readonly words: readonly string[];
}

// Words that have the same effect on the voice.
interface PromptRule {
  readonly about: 'voice' | 'age' | 'pitch' | 'speed' | 'language';
  readonly words: readonly string[];
  /**
   * Pitch in hertz that the words request, such as 112 for `man`. Rules with `pitch` factors, such as `deep`, then
   * multiply the pitch.
   */
  readonly medianHz?: number;
  readonly pitch?: number;
  readonly speed?: number;
  readonly language?: string;
}

// Between a woman's and a man's pitch; used if the prompt names no kind of voice.
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
 * Finds the English words in a prompt that describe a voice. For each trait, the last word wins. Grammar is ignored,
 * so "not slow" means slow.
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
