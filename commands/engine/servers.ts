import path from 'node:path';
import type { Context } from '../../src/cli/command.ts';
import type { EngineRegistration } from '../../src/contract/engine.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { display } from '../../src/text/display.ts';
import { engineDeps } from '../shared/engine-list.ts';

/** The flags of `foley engine add` for servers. */
interface ServerFlags {
  readonly url?: readonly string[];
  readonly voice?: readonly string[];
  readonly model?: string;
  readonly voicesFrom?: string;
  readonly keyFile?: string;
  readonly maxConcurrent?: number;
  readonly language?: string;
}

/**
 * Checks a value of `--url`, and returns the base URL of the server, which ends with `/v1/`.
 * @throws Failure of kind `usage`
 */
export function serverUrl(given: string): string {
  const shown = `--url ${display(given)}`;
  if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol)) {
    throw usageFailure(
      `${shown} is not the URL of a server`,
      'Use a URL such as http://localhost:8880.',
    );
  }
  const url = new URL(given);
  if (url.username !== '' || url.password !== '') {
    throw usageFailure(
      '--url has a password',
      'Put the key of the servers into a file, and name it with --key-file.',
    );
  }
  if (url.search !== '' || url.hash !== '') {
    throw usageFailure(`${shown} has a query or a fragment`, 'Use the URL without them.');
  }
  const folder = url.pathname.replace(/\/+$/, '').replace(/\/audio\/speech$/, '');
  url.pathname = /\/v\d+$/.test(folder) ? `${folder}/` : `${folder}/v1/`;
  return url.href;
}

/** @throws Failure of kind `usage` for a flag without `--url`, and for `--url` with a program */
export function requireUrl(flags: ServerFlags, command: string | undefined): void {
  const { keyFile, language, maxConcurrent, model, url, voicesFrom } = flags;
  if (url !== undefined && command !== undefined) {
    throw usageFailure('--url and a program cannot be combined', 'Add them as two engines.');
  }
  const given = Object.entries({
    '--model': model,
    '--voices-from': voicesFrom,
    '--key-file': keyFile,
    '--max-concurrent': maxConcurrent,
    '--language': language,
  }).find(([, value]) => value !== undefined);
  if (url === undefined && given !== undefined) {
    throw usageFailure(`${given[0]} requires --url`, 'Name the server with --url.');
  }
}

/** Adds servers as an engine. @throws Failure */
export async function addServers(
  context: Context,
  name: string,
  flags: ServerFlags,
): Promise<EngineRegistration> {
  const { ADAPTERS_FOLDER, addRemoteEngine } = await import('../../src/engines/install.ts');
  const { keyFile } = flags;
  const key = keyFile === undefined ? undefined : path.resolve(context.cwd(), keyFile);
  if (key !== undefined) await requireKey(context, key);
  return addRemoteEngine(name, argumentsOf(flags, key), {
    ...(await engineDeps(context)),
    adapterFolder: ADAPTERS_FOLDER,
    installPackages: () => Promise.resolve(),
  });
}

function argumentsOf(
  { language, maxConcurrent, model, url = [], voice = [], voicesFrom }: ServerFlags,
  keyFile: string | undefined,
): readonly string[] {
  const pairs: readonly (readonly [string, string | undefined])[] = [
    ...url.map((one) => ['--url', one] as const),
    ...voice.map((one) => ['--voice', one] as const),
    ['--model', model],
    ['--voices-from', voicesFrom],
    ['--key-file', keyFile],
    ['--max-concurrent', maxConcurrent?.toString()],
    ['--language', language],
  ];
  // One argument: a value may begin with a hyphen.
  return pairs.flatMap(([flag, value]) => (value === undefined ? [] : [`${flag}=${value}`]));
}

// The engine gets the path only: a key in its arguments would be in the list of processes.
async function requireKey({ system: { files } }: Context, file: string): Promise<void> {
  const content = await files.readFile(file).catch(() => undefined);
  if (content === undefined || content.toString().trim() === '') {
    throw usageFailure(
      `--key-file ${display(file)} ${content === undefined ? 'cannot be read' : 'is empty'}`,
      'Name a file that holds the key of the servers and nothing else.',
    );
  }
}
