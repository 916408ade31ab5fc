import path from 'node:path';
import type { ApiClient } from '../../src/api/client.ts';
import type { EngineRegistration } from '../../src/contract/engine.ts';
import type { ModelSource } from '../../src/engines/download-models.ts';
import type { EngineDeps } from '../../src/engines/engines.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { display } from '../../src/text/display.ts';
import type { Context } from '../../src/cli/command.ts';

/** Creates the dependencies of the functions that add, test and remove engines. */
export async function engineDeps(context: Context): Promise<EngineDeps> {
  const { engineInspector } = await import('../../src/engines/inspector.ts');
  const { engines, models } = await context.paths();
  return {
    system: context.system,
    signal: context.signal,
    enginesFolder: engines,
    modelsFolder: models,
    inspect: engineInspector(context),
    onWait: (pid) =>
      context.io.notice(
        `foley: waiting for ${pid === undefined ? 'another process' : `process ${pid}`}, which adds or removes an engine`,
      ),
  };
}

/**
 * Creates the dependencies of the functions that check and download model files.
 * @param from value of `--from`: a folder, or the URL of a mirror
 * @throws Failure of kind `usage` for an invalid URL or a folder that does not exist
 */
export async function modelDeps(context: Context, from?: string) {
  let client: ApiClient | undefined;
  return {
    source: await sourceOf(context, from),
    async client() {
      const { openClient } = await import('../../src/cli/connect.ts');
      return (client ??= openClient(context, { kind: 'hosted', ...NO_SERVICE }));
    },
    closeClient: async () => client?.close(),
  };
}

const NOWHERE = new URL('https://models.invalid');

// Only requests to the service carry a key and a request id.
const NO_SERVICE = { baseUrl: NOWHERE, realtimeUrl: NOWHERE, apiKey: undefined } as const;

async function sourceOf(context: Context, from: string | undefined): Promise<ModelSource> {
  if (from === undefined) return { kind: 'servers' };
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(from)) {
    const { requireProtected } = await import('../../src/api/request.ts');
    if (!/^https?:/i.test(from) || !URL.canParse(from)) {
      throw usageFailure(
        `--from ${display(from)} is not the URL of a mirror`,
        'Use an https URL, or the path of a folder.',
      );
    }
    const url = new URL(from);
    requireProtected(url);
    return { kind: 'mirror', url };
  }
  const folder = path.resolve(context.cwd(), from);
  const stats = await context.system.files.stat(folder).catch(() => undefined);
  if (stats?.isDirectory() === true) return { kind: 'folder', path: folder };
  throw usageFailure(
    `--from ${display(from)}: no such folder`,
    'Name a folder with the files, or the URL of a mirror.',
  );
}

/** An engine of the embedded service, with its voices. */
export interface EngineDocument {
  readonly name: string;
  readonly version: string;
  /** SPDX expression. */
  readonly license: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly voices: readonly EngineVoiceDocument[];
  /** Size of the files that foley installed for the engine. */
  readonly bytes?: number;
}

interface EngineVoiceDocument {
  readonly id: string;
  readonly name?: string;
  readonly language: string;
  readonly [field: string]: unknown;
}

/**
 * Returns the fields of an engine as `--json` prints them.
 * @param bytes size of the files that foley installed for the engine
 */
export function engineDocument(engine: EngineRegistration, bytes?: number): EngineDocument {
  const { name, version, license, command, args, cwd, voices } = engine;
  const size = bytes === undefined ? {} : { bytes };
  return { name, version, license, command, args, cwd, voices, ...size };
}

/** Lists the languages of an engine's voices, separated by commas. */
export function languagesOf({ voices }: EngineRegistration): string {
  return [...new Set(voices.map(({ language }) => language))].join(', ');
}

/** Formats a size in bytes, such as `92.4 MB`. */
export function formatBytes(bytes: number): string {
  return bytes < 100_000
    ? `${Math.ceil(bytes / 1_000)} kB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
