import type { Failure } from '../errors/failure.ts';

/**
 * Whether the service keeps the audio of a failed request, and gives it again to the same request (spec
 * section 7.2, `cache`).
 */
export function isStored({ details }: Pick<Failure, 'details'>): boolean {
  return details?.['audio_url'] !== undefined;
}
