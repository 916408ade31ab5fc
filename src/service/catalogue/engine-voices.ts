import { createHash } from 'node:crypto';
import type { FamilyId } from '../../contract/families.ts';
import type { EngineRegistry } from '../engine/registry.ts';
import type { EngineVoice } from '../engine/speech-engine.ts';
import type { CatalogueVoice } from './voices.ts';

/** What an engine that was added calls its voice. */
type NamedEngineVoice = EngineVoice & { readonly name?: string };

/** The engine whose voices the catalogue itself names. */
const BUILT_IN = 'flite';

/** Voices of the vendor family: their models take every format, and ask for no pitch control. */
const FAMILY: FamilyId = 'vendor';

/** The voices of the engines that were added, in their order, behind those of the catalogue. */
export function engineVoices(engines: EngineRegistry): readonly CatalogueVoice[] {
  return engines.all().flatMap(({ engine, voice }) => {
    if (engine.name === BUILT_IN) return [];
    const named: NamedEngineVoice = voice;
    return [
      {
        id: stableId(engine.name, voice.id),
        name: named.name ?? voice.id,
        family: FAMILY,
        primaryLanguage: voice.language,
        languages: [voice.language],
        engine: { name: engine.name, voice: voice.id, pitch: 0, speed: 1 },
      },
    ];
  });
}

/** The same UUID (version 8, of a hash) for the same voice, on every machine. */
function stableId(engine: string, voice: string): string {
  const hash = createHash('sha256').update(`foley engine voice\0${engine}\0${voice}`).digest('hex');
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `8${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join('-');
}
