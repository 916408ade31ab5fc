import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Liveness } from '../../../src/system/processes.ts';
import { systemProcesses } from '../../../src/system/processes.ts';
import { addNaturalEngine } from '../../../src/engines/add-natural-engine.ts';
import { missingFiles, storeFiles } from '../../../src/engines/download-models.ts';
import { contentOf, filesIn, listed, modelSimulation, served } from '../../engines/model-files.ts';
import {
  installationsIn,
  listedIn,
  naturalSimulation,
  PARTS,
} from '../../engines/natural-simulation.ts';
import { startFaultServer } from '../../fault-server/fault-server.ts';
import { forEachEffect } from '../../harness/failing-files.ts';

const CONTENT = contentOf('ada', 100_000);
const dead = (): Liveness => 'dead';

const ENTRY = listed('kokoro/voices/ada.bin', CONTENT);

test.each([{ kind: 'kill' }, { kind: 'full' }, { kind: 'error', code: 'EIO' }] as const)(
  'a download may fail at any file operation, and the next command finishes it: $kind',
  async (fault) => {
    const server = await startFaultServer([{ answer: (request) => served(CONTENT, request) }]);
    const source = { kind: 'mirror', url: new URL(server.origin) } as const;
    const effects = await forEachEffect({
      fault,
      prepare: () => modelSimulation({ source }),
      scenario: (simulation, files) =>
        storeFiles([ENTRY], { ...simulation, system: { ...simulation.system, files } }),
      async check(simulation, { error, open }) {
        if (fault.kind === 'full' && error !== undefined) {
          expect(error).toMatchObject({ exitCode: 30 });
        }
        expect(open).toEqual([]);
        const isThere = (await missingFiles([ENTRY], simulation)).length === 0;
        const names = await filesIn(simulation).catch((): string[] => []);
        expect(names.includes('ada.bin')).toBe(isThere);
        if (!isThere) await storeFiles([ENTRY], simulation);
        expect(await readFile(path.join(simulation.modelsFolder, ENTRY.path))).toEqual(CONTENT);
        // An ETag whose removal failed is harmless.
        const left = (await filesIn(simulation)).filter((name) => !name.endsWith('.version'));
        expect(left).toEqual(['ada.bin']);
      },
    });
    expect(effects).toEqual(expect.arrayContaining(['create', 'write', 'sync', 'rename']));
  },
);

test.each([{ kind: 'kill' }, { kind: 'full' }, { kind: 'error', code: 'EACCES' }] as const)(
  'an engine is in the list only with its program and its files, wherever the command stops: $kind',
  async (fault) => {
    const effects = await forEachEffect({
      fault,
      prepare: async () => (await naturalSimulation()).deps,
      scenario: async (deps, files) => {
        await addNaturalEngine('kokoro', PARTS, { ...deps, system: { ...deps.system, files } });
      },
      async check(deps, { open }) {
        expect(open).toEqual([]);
        const all = PARTS.flatMap((part) => part.files);
        for (const { cwd } of await listedIn(deps)) {
          expect(await readdir(path.join(cwd, 'kokoro'))).toContain('engine.mjs');
          expect(await missingFiles(all, deps)).toEqual([]);
        }
        // The next command is another process, which finds that the first one has ended.
        const { self } = systemProcesses();
        const processes = { self: { ...self, pid: self.pid + 1 }, liveness: dead };
        await addNaturalEngine('kokoro', PARTS, { ...deps, system: { ...deps.system, processes } });
        expect(await installationsIn(deps)).toHaveLength(1);
        expect(await missingFiles(all, deps)).toEqual([]);
      },
    });
    expect(effects).toEqual(expect.arrayContaining(['mkdir', 'create', 'write', 'rename']));
  },
);
