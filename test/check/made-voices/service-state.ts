import { readdir, readlink } from 'node:fs/promises';
import path from 'node:path';
import type { ServingFoley } from '../../binary/support/serve.ts';

/** Where voices are made of uploads. */
export const CREATE = '/api/open/v1/voices';

/** What an account has, and what is left of uploads on the disk and in the process. */
export async function stateOf({ ask, running }: ServingFoley, dataDir: string) {
  const profile = Object(JSON.parse((await ask('/api/open/v1/profile')).bytes.toString()));
  const list = await ask(`${CREATE}?modelType=personal`);
  return {
    credits: profile.credits,
    quota: profile.api_quota_remaining,
    voices: Object(JSON.parse(list.bytes.toString())).total,
    uploads: await readdir(path.join(dataDir, 'uploads')).catch(() => []),
    open: await openUploads(running.pid),
  };
}

/** Files of uploads that a process has open; on Linux only. */
async function openUploads(pid: number | undefined): Promise<readonly string[]> {
  const folder = `/proc/${String(pid)}/fd`;
  const names = await readdir(folder).catch(() => []);
  const targets = await Promise.all(
    names.map((name) => readlink(path.join(folder, name)).catch(() => '')),
  );
  return targets.filter((target) => target.includes(`${path.sep}uploads${path.sep}`));
}
