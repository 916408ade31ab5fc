import { usageFailure } from '../../src/errors/failure.ts';
import type { VoiceType } from '../../src/contract/values.ts';

export interface VoicesListFlags {
  readonly page?: number;
  readonly pageSize?: number;
  readonly all?: true;
  readonly includePersonal?: true;
  readonly type?: VoiceType;
  readonly language?: string;
  readonly supportsLanguage?: string;
  readonly search?: string;
  readonly provider?: string;
  readonly api?: VoiceSurface;
}

/** The interfaces that list voices. */
export const VOICE_SURFACES = ['v3', 'v1', 'compat'] as const;
export type VoiceSurface = (typeof VOICE_SURFACES)[number];

/** What only v1 has, and what the compatibility list has none of. */
const V1_FILTERS = ['type', 'language', 'supportsLanguage', 'search', 'provider'] as const;
const PAGE_FLAGS = ['page', 'pageSize', 'includePersonal'] as const;
const FLAG_NAMES: Readonly<Record<(typeof V1_FILTERS | typeof PAGE_FLAGS)[number], string>> = {
  type: '--type',
  language: '--language',
  supportsLanguage: '--supports-language',
  search: '--search',
  provider: '--provider',
  page: '--page',
  pageSize: '--page-size',
  includePersonal: '--include-personal',
};

/**
 * The interface to ask: the one that is named, else v1 where a filter needs it.
 * @throws Failure (usage) naming a flag that the named one does not have
 */
export function chooseVoiceSurface(flags: VoicesListFlags): VoiceSurface {
  const filter = V1_FILTERS.find((name) => flags[name] !== undefined);
  const { api } = flags;
  if (api === undefined) return filter === undefined ? 'v3' : 'v1';
  const paging = PAGE_FLAGS.find((name) => flags[name] !== undefined);
  const unknown = api === 'v1' ? undefined : (filter ?? (api === 'compat' ? paging : undefined));
  if (unknown === undefined) return api;
  throw usageFailure(
    `${FLAG_NAMES[unknown]} is not known to --api ${api}`,
    api === 'compat' ? 'It lists all voices at once.' : 'It belongs to --api v1.',
  );
}
