import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { NaturalEngineDeps } from '../../src/engines/add-natural-engine.ts';
import type { EnginePart } from '../../src/engines/natural-engines.ts';
import { loadEngineRegistrations, registrationsFile } from '../../src/engines/registrations.ts';
import { startFaultServer } from '../fault-server/fault-server.ts';
import type { Rule } from '../fault-server/script.ts';
import { enginesFolder } from './engines-folder.ts';
import { contentOf, listed, modelSimulation, served } from './model-files.ts';

/** The files of an engine that is as small as an engine can be. */
export const CONTENTS = new Map([
  ['kokoro/model.onnx', contentOf('model', 60_000)],
  ['kokoro/voices/ada.bin', contentOf('ada', 20_000)],
]);
export const PARTS: readonly EnginePart[] = [...CONTENTS].map(([file, content]) => ({
  what: file,
  license: 'MIT',
  source: 'here',
  bytes: content.length,
  files: [listed(file, content)],
}));

export const contentAt = (wanted: string): Buffer =>
  CONTENTS.get(wanted.slice(1)) ?? Buffer.alloc(0);
export const honest: Rule = { answer: (request) => served(contentAt(request.path), request) };

/** Files of foley with which Kokoro reads American English. */
export const READER = new Map(
  'dist/english-reader.cjs dist/packages/kernels.wasm assets/voice/LICENSE assets/voice/NOTICE assets/voice/contractions.txt assets/voice/tagger.txt assets/voice/unknown-words.safetensors assets/voice/words.txt'
    .split(' ')
    .map((name) => [name, `content of ${name}`]),
);

/** Adapters that stand in for the real ones: their engines are not started. */
export async function naturalSimulation(
  rules: readonly Rule[] = [honest],
  changes: Partial<NaturalEngineDeps> = {},
) {
  const engines = await enginesFolder();
  const server = await startFaultServer(rules.map((rule) => ({ ...rule, optional: true })));
  const models = await modelSimulation({ source: { kind: 'mirror', url: new URL(server.origin) } });
  const adapterFolder = path.join(models.modelsFolder, '../adapters');
  for (const [name, content] of [
    ['kokoro/engine.mjs', 'import "../parts/part.mjs";'],
    ['kokoro/package.json', '{}'],
    ['kokoro/package-lock.json', '{"lockfileVersion":3}'],
    ['parts/part.mjs', 'export {};'],
    ...[...READER].map(([file, text]) => [`../${file}`, text] as const),
  ] as const) {
    await mkdir(path.join(adapterFolder, path.dirname(name)), { recursive: true });
    await writeFile(path.join(adapterFolder, name), content);
  }
  const installed: string[] = [];
  const waited: (number | undefined)[] = [];
  const recorded: [string, string][] = [];
  const deps = {
    ...engines,
    ...models,
    adapterFolder,
    installPackages: async (folder: string, _optional: 'include' | 'omit') =>
      void installed.push(folder),
    onWait: (pid: number | undefined) => void waited.push(pid),
    onDownload: () => undefined,
    onRecord: (name: string, sum: string) => void recorded.push([name, sum]),
    onInstall: () => undefined,
    ...changes,
  };
  return { deps, server, installed, recorded, waited, inspected: engines.inspected };
}

export const listedIn = ({ enginesFolder: folder, system: { files } }: NaturalEngineDeps) =>
  loadEngineRegistrations(files, registrationsFile(folder));

export const installationsIn = async ({ enginesFolder: folder }: NaturalEngineDeps) =>
  (await readdir(folder).catch((): string[] => [])).filter((name) => name.startsWith('kokoro.'));
