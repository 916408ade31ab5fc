import type { Clock } from '../../../effects/clock.ts';
import { endpointPath } from '../../http/endpoint-path.ts';
import type { SignedLinks } from '../../jobs/signed-links.ts';

/** How long an address of a file is good for: every poll gives a new one. */
const KEPT_MS = 24 * 60 * 60 * 1_000;

/** Gives the address of a file on the host that was asked; it needs no key for a day. */
export type MediaLink = (requestUrl: string, fileId: string) => string;

export function createMediaLink({
  clock,
  links,
}: {
  readonly clock: Clock;
  readonly links: SignedLinks;
}): MediaLink {
  return (requestUrl, fileId) => {
    const target = { taskId: fileId, download: false };
    const { expires, signature } = links.sign(target, clock.now() + KEPT_MS);
    const url = new URL(endpointPath('getMediaFile', { fileId }), requestUrl);
    url.search = new URLSearchParams({ expires: String(expires), signature }).toString();
    return url.href;
  };
}
