import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { configFailure } from '../../src/errors/failure.ts';
import {
  addNaturalEngine,
  removeNaturalEngine,
  storedVoices,
} from '../../src/engines/add-natural-engine.ts';
import { addEngine, register } from '../../src/engines/engines.ts';
import type { EnginePart, NaturalEngineName } from '../../src/engines/natural-engines.ts';
import { isNaturalEngine, NATURAL_ENGINES } from '../../src/engines/natural-engines.ts';
import { startFaultServer } from '../fault-server/fault-server.ts';
import { answer } from '../fault-server/http-text.ts';
import type { Rule } from '../fault-server/script.ts';
import { failureOf } from '../files/file-simulation.ts';
import { commandOf, DESCRIPTION } from './engines-folder.ts';
import { contentOf, cutAfter, filesIn } from './model-files.ts';
import {
  contentAt,
  CONTENTS,
  honest,
  installationsIn,
  listedIn,
  naturalSimulation,
  PARTS,
  READER,
} from './natural-simulation.ts';

describe('adding an engine with natural voices', () => {
  it('stores its files, installs its program, and lists it after it has spoken', async () => {
    const { deps, inspected, installed } = await naturalSimulation();

    const added = await addNaturalEngine('kokoro', PARTS, deps);

    expect(added).toMatchObject({ name: 'kokoro', command: 'node', ...DESCRIPTION });
    const models = path.join(deps.modelsFolder, 'kokoro');
    expect(added.args).toEqual(['kokoro/engine.mjs', '--model-folder', models]);
    expect(await listedIn(deps)).toEqual([added]);
    expect(inspected).toHaveLength(1);
    expect(installed).toEqual([added.cwd]);
    expect((await readdir(added.cwd)).toSorted()).toEqual([
      'assets',
      'dist',
      'kokoro',
      'package-lock.json',
      'package.json',
      'parts',
    ]);
    expect(await readdir(path.join(added.cwd, 'kokoro'))).toEqual(['engine.mjs']);
    for (const [file, content] of CONTENTS) {
      expect(await readFile(path.join(deps.modelsFolder, file))).toEqual(content);
    }
    expect((await filesIn(deps)).toSorted()).toEqual(['ada.bin', 'model.onnx']);
  });

  it('downloads and installs nothing twice, but lists the voices again', async () => {
    const { deps, inspected, installed, server } = await naturalSimulation();
    const first = await addNaturalEngine('kokoro', PARTS, deps);
    const again = await addNaturalEngine('kokoro', PARTS, deps);
    expect(again.cwd).toBe(first.cwd);
    expect(inspected).toHaveLength(2);
    expect(installed).toHaveLength(1);
    expect(server.requests).toHaveLength(2);
    expect(await listedIn(deps)).toHaveLength(1);
  });

  it('installs the program again when it has changed', async () => {
    const { deps } = await naturalSimulation();
    const first = await addNaturalEngine('kokoro', PARTS, deps);
    await writeFile(path.join(deps.adapterFolder, 'parts/part.mjs'), 'export const a = 1;');
    const again = await addNaturalEngine('kokoro', PARTS, deps);
    expect(again.cwd).not.toBe(first.cwd);
    expect(await installationsIn(deps)).toEqual([path.basename(again.cwd)]);
  });

  it('installs the reader of American English, and again when its data has changed', async () => {
    const { deps } = await naturalSimulation();
    const first = await addNaturalEngine('kokoro', PARTS, deps);
    for (const [file, content] of READER) {
      expect(await readFile(path.join(first.cwd, file), 'utf8')).toBe(content);
    }
    await writeFile(path.join(deps.adapterFolder, '../assets/voice/words.txt'), 'new words');
    const again = await addNaturalEngine('kokoro', PARTS, deps);
    expect(again.cwd).not.toBe(first.cwd);
    expect(await readFile(path.join(again.cwd, 'assets/voice/words.txt'), 'utf8')).toBe(
      'new words',
    );
  });

  it('installs espeak-ng only for voices that need it, also later', async () => {
    const optional: string[] = [];
    const { deps } = await naturalSimulation([honest], {
      async installPackages(folder, wanted) {
        optional.push(wanted);
        if (wanted === 'omit') return;
        const espeak = path.join(folder, 'node_modules/@echogarden/espeak-ng-emscripten');
        await mkdir(espeak, { recursive: true });
        await writeFile(path.join(espeak, 'package.json'), '{}');
      },
    });
    const partsFor = async (...voices: readonly string[]) => {
      const stored = await storedVoices('kokoro', deps);
      const parts = await NATURAL_ENGINES.kokoro.parts(voices, stored, nothing);
      return [...PARTS, ...parts.filter(({ files }) => files.length === 0)];
    };
    const store = (voice: string) =>
      writeFile(path.join(deps.modelsFolder, `kokoro/voices/${voice}.bin`), '');
    const first = await addNaturalEngine('kokoro', await partsFor('af_heart', 'am_puck'), deps);
    expect(optional).toEqual(['omit']);
    const second = await addNaturalEngine('kokoro', await partsFor('bf_emma'), deps);
    expect(second.cwd).not.toBe(first.cwd);
    expect(optional).toEqual(['omit', 'include']);
    await store('bf_emma');
    const third = await addNaturalEngine('kokoro', await partsFor('af_heart'), deps);
    expect(third.cwd).toBe(second.cwd);
    expect(optional).toEqual(['omit', 'include']);
  });

  it('keeps the libraries of this platform only', async () => {
    const places = ['linux/x64', 'linux/arm64', 'win32/x64'];
    const { deps } = await naturalSimulation([honest], {
      arch: 'x64',
      async installPackages(folder) {
        for (const place of places) {
          const name = path.join(folder, 'node_modules/onnxruntime-node/bin/napi-v6', place);
          await mkdir(name, { recursive: true });
          await writeFile(path.join(name, 'runtime.so'), '');
        }
      },
    });
    const { cwd } = await addNaturalEngine('kokoro', PARTS, deps);
    const left = await readdir(path.join(cwd, 'node_modules'), { recursive: true });
    expect(left.filter((name) => name.endsWith('.so'))).toEqual([
      'onnxruntime-node/bin/napi-v6/linux/x64/runtime.so',
    ]);
  });

  it('downloads a damaged file again', async () => {
    const { deps, server } = await naturalSimulation();
    await addNaturalEngine('kokoro', PARTS, deps);
    await writeFile(path.join(deps.modelsFolder, 'kokoro/model.onnx'), contentOf('x', 60_000));
    await addNaturalEngine('kokoro', PARTS, deps);
    expect(server.requests.map(({ path: name }) => name)).toEqual([
      '/kokoro/model.onnx',
      '/kokoro/voices/ada.bin',
      '/kokoro/model.onnx',
    ]);
  });

  it.each([
    ['the download', [{ answer: () => answer(200, {}, contentOf('wrong', 60_000)) }], {}],
    [
      'npm',
      [honest],
      {
        installPackages: async () => {
          throw configFailure('npm failed');
        },
      },
    ],
    [
      'the test sentence',
      [honest],
      {
        inspect: async () => ({ isSound: false as const, fault: 'It is mute.', detail: undefined }),
      },
    ],
  ] as const)('lists and leaves no program when %s fails', async (_, rules, changes) => {
    const { deps } = await naturalSimulation(rules, changes);
    await failureOf(addNaturalEngine('kokoro', PARTS, deps));
    expect(await listedIn(deps)).toEqual([]);
    expect(await installationsIn(deps)).toEqual([]);
    expect(await filesIn(deps)).not.toContain('lock');
  });

  it('lets a program of the user be added at the same time', async () => {
    const { deps } = await naturalSimulation();
    await Promise.all([
      addNaturalEngine('kokoro', PARTS, deps),
      addEngine(commandOf('mine'), deps),
    ]);
    expect((await listedIn(deps)).map(({ name }) => name).toSorted()).toEqual(['kokoro', 'mine']);
  });

  it('lets two commands at once download every file once', async () => {
    const slow: Rule = {
      nth: 1,
      answer: (request) => cutAfter(contentAt(request.path), request, 10),
    };
    const { deps, installed, server, waited } = await naturalSimulation([slow, honest]);
    const [first, second] = await Promise.all([
      addNaturalEngine('kokoro', PARTS, deps),
      addNaturalEngine('kokoro', PARTS, deps),
    ]);
    expect(second).toEqual(first);
    expect(server.requests).toHaveLength(3);
    expect(installed).toHaveLength(1);
    expect(waited).toEqual([process.pid]);
  });

  it('keeps a program of the user that has the name', async () => {
    const { deps, server } = await naturalSimulation();
    const own = { ...commandOf('kokoro'), ...DESCRIPTION };
    await register(own, deps);
    expect(await failureOf(addNaturalEngine('kokoro', PARTS, deps))).toMatchObject({
      exitCode: 2,
      hint: expect.stringContaining('foley engine remove kokoro'),
    });
    expect(await listedIn(deps)).toEqual([own]);
    expect(server.requests).toEqual([]);
  });

  it('reports a folder that cannot be created with exit 30', async () => {
    const { deps } = await naturalSimulation();
    await rm(deps.modelsFolder, { recursive: true, force: true });
    await writeFile(deps.modelsFolder, 'a file');
    expect(await failureOf(addNaturalEngine('kokoro', PARTS, deps))).toMatchObject({
      exitCode: 30,
    });
  });
});

describe('removing an engine with natural voices', () => {
  it('deletes its program and its files, and nothing of other engines', async () => {
    const { deps } = await naturalSimulation();
    const { cwd } = await addNaturalEngine('kokoro', PARTS, deps);
    const other = path.join(deps.modelsFolder, 'piper/joe.onnx');
    await mkdir(path.dirname(other));
    await writeFile(other, 'joe');

    const { deleted, engine } = await removeNaturalEngine('kokoro', deps);

    expect(engine?.name).toBe('kokoro');
    expect(deleted).toEqual([cwd, path.join(deps.modelsFolder, 'kokoro')]);
    expect(await listedIn(deps)).toEqual([]);
    expect(await filesIn(deps)).toEqual(['joe.onnx']);
    expect(await installationsIn(deps)).toEqual([]);
  });

  it('deletes what an unfinished download left', async () => {
    const { deps } = await naturalSimulation();
    const part = path.join(deps.modelsFolder, 'kokoro/model.onnx.part');
    await mkdir(path.dirname(part), { recursive: true });
    await writeFile(part, 'half');
    expect(await removeNaturalEngine('kokoro', deps)).toMatchObject({ engine: undefined });
    expect(await filesIn(deps)).toEqual([]);
    expect(await failureOf(removeNaturalEngine('kokoro', deps))).toMatchObject({
      message: 'no such engine: kokoro',
    });
  });

  it('keeps the files when the name belongs to a program of the user', async () => {
    const { deps } = await naturalSimulation();
    await addNaturalEngine('kokoro', PARTS, deps);
    await register({ ...commandOf('kokoro'), ...DESCRIPTION }, deps);
    const { deleted } = await removeNaturalEngine('kokoro', deps);
    expect(deleted.some((folder) => folder.startsWith(deps.modelsFolder))).toBe(false);
    expect(await filesIn(deps)).toContain('model.onnx');
  });
});

/** The first part with an MD5 instead of its SHA-256. */
function withMd5(content: Buffer): readonly EnginePart[] {
  const md5 = createHash('md5').update(content).digest('hex');
  return PARTS.slice(0, 1).map((one) => ({
    ...one,
    files: one.files.map((file) => ({ ...file, sha256: undefined, md5 })),
  }));
}

describe('a file for which the publisher gives an MD5 only', () => {
  it('is recorded by its SHA-256, which later files must have', async () => {
    const { deps, recorded } = await naturalSimulation();
    await addNaturalEngine('kokoro', withMd5(contentAt('/kokoro/model.onnx')), deps);
    expect(recorded).toEqual([['model.onnx', PARTS[0]?.files[0]?.sha256]]);
    await addNaturalEngine('kokoro', withMd5(contentAt('/kokoro/model.onnx')), deps);
    expect(recorded).toHaveLength(1);

    const other = contentOf('other', 60_000);
    const from = await startFaultServer([{ answer: answer(200, {}, other) }]);
    await rm(path.join(deps.modelsFolder, 'kokoro/model.onnx'));
    const changed = { ...deps, source: { kind: 'mirror', url: new URL(from.origin) } } as const;
    const failure = await failureOf(addNaturalEngine('kokoro', withMd5(other), changed));
    expect(failure).toMatchObject({ exitCode: 25 });
    expect(String(failure)).toContain('its SHA-256 is');
  });
});

const nothing = (): Promise<Uint8Array> => Promise.reject(new Error('nothing to read'));

const partsOf = (name: NaturalEngineName, ...voices: readonly string[]) =>
  NATURAL_ENGINES[name].parts(voices, [], nothing);

const filesOf = async (name: NaturalEngineName, ...voices: readonly string[]) =>
  (await partsOf(name, ...voices)).flatMap((part) => part.files);

describe('the list of files', () => {
  it('has 41 voices of Kokoro, or those that are chosen', async () => {
    const files = await filesOf('kokoro');
    expect(files.filter(({ path: file }) => file.startsWith('kokoro/voices/'))).toHaveLength(41);
    const chosen = await filesOf('kokoro', 'af_heart', 'bf_emma', 'af_heart');
    expect(chosen.map(({ path: file }) => file)).toEqual([
      'kokoro/voices/af_heart.bin',
      'kokoro/voices/bf_emma.bin',
      'kokoro/kokoro-v1.0.int8.onnx',
    ]);
  });

  it.each(['kokoro', 'piper'] as const)('of %s pins every file by SHA-256', async (name) => {
    for (const file of await filesOf(name)) {
      expect(file.sha256).toMatch(/^[0-9a-f]{64}$/);
      expect(file.path).toMatch(new RegExp(`^${name}/`));
      expect(file.url).toMatch(/^https:\/\//);
    }
    expect(isNaturalEngine(name)).toBe(true);
  });

  it('names the licenses of all packages', async () => {
    const lock = await readFile(path.resolve('engines/parts/package-lock.json'), 'utf8');
    const { packages }: { packages: Record<string, { license: string }> } = JSON.parse(lock);
    const named = (await partsOf('kokoro')).map(({ license }) => license).join(' ');
    for (const { license } of Object.values(packages)) {
      const [first = ''] = license.replaceAll(/[()]/g, '').split(' OR ');
      expect(named).toContain(first);
    }
    expect(named).toContain('GPL-3.0-or-later');
  });

  it('suggests the nearest voice', async () => {
    await expect(partsOf('kokoro', 'af_hart')).rejects.toMatchObject({
      message: 'kokoro has no voice "af_hart"',
      hint: 'Did you mean af_heart?',
    });
  });

  it('has other voices of Piper by the catalogue, with the license of their model card', async () => {
    const folder = 'de/de_DE/thorsten/medium';
    const name = 'de_DE-thorsten-medium';
    const file = { size_bytes: 100, md5_digest: '0'.repeat(32) };
    const files = { [`${folder}/${name}.onnx`]: file, [`${folder}/${name}.onnx.json`]: file };
    const catalogue = {
      [name]: { num_speakers: 1, files: { ...files, [`${folder}/MODEL_CARD`]: file } },
    };
    const card =
      '## Dataset\n\n* URL: https://thorsten.example\n* License: CC0\n\nFinetuned from lessac.\n';
    const asked: string[] = [];
    const parts = await NATURAL_ENGINES.piper.parts(
      [name, 'en_US-joe-medium'],
      [],
      async (wanted) => {
        asked.push(wanted.path);
        return Buffer.from(wanted.path.endsWith('.json') ? JSON.stringify(catalogue) : card);
      },
    );
    expect(asked).toEqual(['piper/voices.json', `piper/${name}.MODEL_CARD`]);
    expect(parts.slice(0, 2)).toMatchObject([
      {
        what: `voice ${name}`,
        license: 'CC0, https://thorsten.example, Finetuned from lessac.',
        source: `https://huggingface.co/rhasspy/piper-voices/tree/v1.0.0/${folder}`,
        bytes: 300,
      },
      { what: 'voice en_US-joe-medium' },
    ]);
  });
});
