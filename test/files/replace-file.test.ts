import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { replaceFile } from '../../src/durable/publish.ts';
import { forEachEffect } from '../harness/failing-files.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { testSystem, modeOf, namesIn, textOf } from './file-simulation.ts';

const NEW = Buffer.from('{"new":true}');

describe('replacing a small file', () => {
  it('closes one that others could read, when it holds a secret', async () => {
    const { config } = await createSandbox();
    const file = path.join(config, 'accounts.json');
    await writeFile(file, '{}', { mode: 0o644 });
    await replaceFile(testSystem(), { path: file, data: NEW, mode: 0o600 });
    expect([await textOf(file), await modeOf(file)]).toEqual([NEW.toString(), 0o600]);
  });

  it('keeps the permissions otherwise', async () => {
    const { config } = await createSandbox();
    const file = path.join(config, 'config.json');
    await writeFile(file, '{}', { mode: 0o640 });
    await replaceFile(testSystem(), { path: file, data: NEW });
    expect(await modeOf(file)).toBe(0o640);
  });

  it('leaves the old one or the new one, and nothing else, whatever goes wrong', async () => {
    await forEachEffect({
      fault: { kind: 'full' },
      async prepare() {
        const { config } = await createSandbox();
        const file = path.join(config, 'config.json');
        await writeFile(file, '{}');
        return { config, file };
      },
      scenario: ({ file }, files) => replaceFile(testSystem({ files }), { path: file, data: NEW }),
      async check({ config, file }, { struck, error }) {
        expect(['{}', NEW.toString()], struck).toContain(await textOf(file));
        if (error === undefined) expect(await textOf(file)).toBe(NEW.toString());
        if (struck !== 'unlink') expect(await namesIn(config)).toEqual(['config.json']);
      },
    });
  });
});
