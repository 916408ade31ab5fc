import path from 'node:path';
import { readOwnText, SMALL_FILE_BYTES } from '../../src/durable/own-files.ts';
import { replaceFile } from '../../src/durable/publish.ts';
import { loadEngineRegistrations, registrationsFile } from '../../src/engines/registrations.ts';
import type { Context } from '../../src/cli/command.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

const NOTICE =
  'foley: this voice is small and built in; `foley engine add kokoro` installs natural voices';

/**
 * Returns a hint about how to install natural voices, at most once a day. Returns undefined if the user has added an
 * engine or uses a hosted service. Never throws.
 */
export async function naturalVoicesNotice(context: Context): Promise<string | undefined> {
  try {
    const [{ target }, { engines: folder, state }] = await Promise.all([
      context.connect(),
      context.paths(),
    ]);
    if (target !== 'embedded') return undefined;
    const engines = await loadEngineRegistrations(context.system.files, registrationsFile(folder));
    if (engines.length > 0) return undefined;
    const file = path.join(state, 'natural-voices-notice');
    const now = context.system.clock.now();
    const text = await readOwnText(file, SMALL_FILE_BYTES, context.system.files).catch(() => '');
    const ageMs = now - Date.parse(text);
    if (ageMs >= 0 && ageMs < DAY_MS) return undefined;
    const data = Buffer.from(new Date(now).toISOString());
    // Without a stored time, the hint would appear after every command.
    await replaceFile(context.system, { path: file, data, mode: 0o600 });
    return NOTICE;
  } catch {
    return undefined;
  }
}
