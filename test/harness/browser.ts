import { createReadStream, createWriteStream } from 'node:fs';
import { cp, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createBrotliDecompress } from 'node:zlib';
import { execa } from 'execa';
import type { LaunchOptions, Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { installOnce } from './install-once.ts';
import { findOnPath, requireTool } from './require-tool.ts';

const PACKAGE = fileURLToPath(new URL('../browser', import.meta.url));
const NAMES = ['chromium', 'chromium-browser', 'google-chrome'] as const;

/**
 * Opens a page in the installed Chromium, or else in the one of the npm package, which exists for Linux on x64. The
 * browser plays audio without a click, and closes with the test.
 */
export async function openPage(url = 'about:blank'): Promise<Page> {
  const args = ['--no-sandbox', '--autoplay-policy=no-user-gesture-required'];
  const browser = await chromium.launch({ ...(await findBrowser()), args });
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.goto(url);
  return page;
}

async function findBrowser(): Promise<LaunchOptions> {
  const hasPackage = process.platform === 'linux' && process.arch === 'x64';
  if (!hasPackage || NAMES.some((name) => findOnPath(name) !== undefined)) {
    return { executablePath: requireTool(...NAMES) };
  }
  const { packages } = JSON.parse(await readFile(path.join(PACKAGE, 'package-lock.json'), 'utf8'));
  const { version } = packages['node_modules/@sparticuz/chromium'];
  const folder = await installOnce(`chromium-${version}`, installBrowser);
  return {
    executablePath: path.join(folder, 'chromium'),
    env: {
      ...process.env,
      LD_LIBRARY_PATH: path.join(folder, 'lib'),
      XDG_DATA_HOME: folder,
    },
  };
}

async function installBrowser(folder: string): Promise<void> {
  await cp(PACKAGE, folder, { recursive: true });
  // Its code requires a newer Node than this test. Only its data is used.
  await execa('npm', ['ci', '--ignore-scripts', '--no-engine-strict'], { cwd: folder });
  const unpacked = (name: string): Readable =>
    createReadStream(path.join(folder, 'node_modules/@sparticuz/chromium/bin', name)).pipe(
      createBrotliDecompress(),
    );
  const program = createWriteStream(path.join(folder, 'chromium'), { mode: 0o755 });
  await pipeline(unpacked('chromium.br'), program);
  // Libraries and a font, for computers without them.
  for (const name of ['al2023.tar.br', 'fonts.tar.br'])
    await execa('tar', ['-x'], { cwd: folder, input: unpacked(name) });
  await rm(path.join(folder, 'node_modules'), { recursive: true });
}
