import { request } from 'undici';
import type { Version } from './messages.ts';
import { isFields } from './wire-names.ts';
import type { Fields } from './wire-names.ts';

export interface TicketOptions {
  readonly baseUrl: string;
  readonly version: Version;
  readonly key?: string;
  readonly origin: string;
}

/** Asks for a browser ticket (section 5), as a trusted backend does; gives status and JSON. */
export async function askTicket(
  options: TicketOptions,
): Promise<{ readonly status: number; readonly body: Fields }> {
  const { key } = options;
  const { statusCode, body } = await request(
    `${options.baseUrl}/${options.version}/tts/browser-tickets`,
    {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({ origin: options.origin }),
    },
  );
  const given: unknown = await body.json();
  return { status: statusCode, body: isFields(given) ? given : {} };
}

/** The ticket of such an answer; its field's name is not in the spec, and `ticket` is assumed. */
export function ticketIn({ body }: { readonly body: Fields }): string {
  const { ticket } = body;
  if (typeof ticket !== 'string') {
    throw new Error(`No ticket among the fields ${Object.keys(body).join(', ')}.`);
  }
  return ticket;
}
