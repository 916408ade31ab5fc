import path from 'node:path';
import { readJsonFile } from '../config/json-file.ts';
import type { EngineList, EngineRegistration } from '../contract/schemas/engine.ts';
import type { FileSystem } from '../effects/file-system.ts';
import { configFailure, Failure } from '../errors/failure.ts';
import type { FileDeps } from '../files/file-deps.ts';
import { makeFolder } from './state-folder.ts';
import { replaceFile } from '../files/replace-file.ts';

/** Where the added engines are written down, in the folder of the engines. */
export function registrationsFile(enginesFolder: string): string {
  return path.join(enginesFolder, 'engines.json');
}

/**
 * The engines that were added; none when there is no such file.
 * @param file `registrationsFile` of the engines' folder
 * @throws Failure: config for a file that is broken, state for one of a newer foley
 */
export async function loadEngineRegistrations(
  files: FileSystem,
  file: string,
): Promise<readonly EngineRegistration[]> {
  const content = await readJsonFile(files, file, 'refuse');
  if (content === undefined) return [];
  const { engines } = await valid(content, file);
  const names = engines.map(({ name }) => name);
  const twin = names.find((name, index) => names.indexOf(name) !== index);
  if (twin !== undefined) throw broken(file, `has two engines with the name ${twin}`);
  return engines;
}

/** Writes the engines down. Throws as `replaceFile` does. */
export async function saveEngineRegistrations(
  file: string,
  engines: readonly EngineRegistration[],
  deps: FileDeps,
): Promise<void> {
  const list: EngineList = { version: 1, engines: [...engines] };
  await makeFolder(path.dirname(file), deps.files);
  const data = Buffer.from(`${JSON.stringify(list, undefined, 2)}\n`);
  await replaceFile({ ...deps, path: file, data, mode: 0o600 });
}

async function valid(content: object, file: string): Promise<EngineList> {
  const [{ Check, Errors }, { EngineList: Schema }] = await Promise.all([
    import('typebox/schema'),
    import('../contract/schemas/engine.ts'),
  ]);
  if (Check(Schema, content)) return content;
  if ('version' in content && Number(content.version) > 1) {
    throw new Failure(`${file} was written by a newer foley`, {
      code: 'state',
      exit: 'state',
      hint: 'Use the newer foley.',
    });
  }
  const [, [first]] = Errors(Schema, content);
  throw broken(
    file,
    `is not a list of engines: ${first?.instancePath ?? ''} ${first?.message ?? ''}`,
  );
}

function broken(file: string, what: string): Failure {
  return configFailure(
    `${file} ${what.trim()}`,
    'Mend it, or remove it and add the engines again with `foley engine add`.',
  );
}
