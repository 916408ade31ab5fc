import { configFailure, Failure } from '../errors/failure.ts';
import { display } from '../text/display.ts';

export interface RunNpmOptions {
  /** npm's environment: registry, proxy and cache are its own settings. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** Nothing that is downloaded runs while it is installed; versions and checksums are in the lock. */
const ARGUMENTS = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--omit=dev'];

/** How much of what npm complained of is shown. */
const LONGEST_COMPLAINT = 500;

/**
 * Installs what a folder's package-lock.json names.
 * @throws Failure (config) when there is no npm or it fails, and the signal's reason
 */
export async function installPackages(folder: string, options: RunNpmOptions): Promise<void> {
  const { execa } = await import('execa');
  const result = await execa('npm', ARGUMENTS, {
    cwd: folder,
    env: withoutOurs(options.env),
    extendEnv: false,
    cancelSignal: options.signal,
    stdin: 'ignore',
    all: true,
    reject: false,
  });
  options.signal.throwIfAborted();
  if (!result.failed) return;
  if (result.exitCode === undefined) {
    throw configFailure(
      'npm, which installs engines, could not be started',
      'It comes with Node.js; see that it is on your PATH.',
    );
  }
  throw new Failure(`npm could not install the engine (exit code ${result.exitCode})`, {
    code: 'config',
    exit: 'usage',
    hint: `It said: ${display(result.all.trim(), { max: LONGEST_COMPLAINT })}`,
  });
}

/** Without the key of the hosted service and whatever else is only for foley. */
function withoutOurs(env: RunNpmOptions['env']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || /^FOLEY_/i.test(name) ? [] : [[name, value]],
    ),
  );
}
