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

/** Requests a browser ticket (section 5); returns status and JSON. */
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

/** Returns the ticket of a response; the spec does not name its field, `ticket` is assumed. */
export function ticketIn({ body }: { readonly body: Fields }): string {
  const { ticket } = body;
  if (typeof ticket !== 'string') {
    throw new Error(`No ticket among the fields ${Object.keys(body).join(', ')}.`);
  }
  return ticket;
}
