import type { Handler } from './call.ts';

/** `GET /healthz`: answers as long as the service does. */
export const getHealth: Handler = () => Response.json({ status: 'ok' });
