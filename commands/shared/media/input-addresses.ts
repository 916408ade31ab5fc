import { pathToFileURL } from 'node:url';
import { resolveSetting } from '../../../src/config/settings.ts';
import type { InputAddresses, MediaInput } from '../../../src/media/inputs.ts';
import { notFetchable, openAddresses, readMediaInput } from '../../../src/media/inputs.ts';
import type { Context, ServiceConnection } from '../../../src/cli/command.ts';

/**
 * Checks the inputs that flags give as URLs or local files.
 * @param given each value with the name of its flag
 * @throws Failure of kind `usage` for an invalid URL or file
 */
export async function readInputs(
  context: Context,
  given: readonly (readonly [value: string, flag: string])[],
): Promise<readonly MediaInput[]> {
  const inputs: MediaInput[] = [];
  for (const [value, flag] of given) inputs.push(await readMediaInput(value, flag, context));
  return inputs;
}

/**
 * Returns URLs from which the service can download the inputs. For a hosted service, uploads local files first.
 * @throws Failure of kind `usage` or `config`
 */
export async function urlsOf(
  context: Context,
  inputs: readonly MediaInput[],
  { target }: ServiceConnection,
): Promise<InputAddresses> {
  const hasFiles = inputs.some(({ kind }) => kind === 'file');
  const command = hasFiles && target === 'hosted' ? await uploadCommandOf(context) : undefined;
  return openAddresses(inputs, {
    target,
    random: context.system.random,
    upload: command === undefined ? undefined : (path) => upload(context, command, path),
  });
}

/**
 * Checks that the service can download local files, without uploading them.
 * @throws Failure of kind `usage` if `upload.command` is missing
 */
export async function checkInputs(
  context: Context,
  inputs: readonly MediaInput[],
  { target }: ServiceConnection,
): Promise<void> {
  const file = inputs.find(({ kind }) => kind === 'file');
  if (file === undefined || target === 'embedded') return;
  if ((await uploadCommandOf(context)) === undefined) throw notFetchable(file);
}

async function uploadCommandOf(context: Context): Promise<string | undefined> {
  return resolveSetting(await context.settings(), 'upload.command')?.value;
}

/** Returns the URLs of the inputs for `--dry-run`; the URLs of local files begin with `file:`. */
export function describedUrls(inputs: readonly MediaInput[]): readonly string[] {
  return inputs.map((input) =>
    input.kind === 'file' ? pathToFileURL(input.path).href : input.given,
  );
}

async function upload(context: Context, command: string, path: string): Promise<string> {
  const { clock } = context.system;
  const { io, signal } = context;
  const [{ uploadFile }, { startProgress }, { findProgram }] = await Promise.all([
    import('../../../src/media/upload.ts'),
    import('../../../src/cli/render/progress.ts'),
    import('../../../src/speech/play.ts'),
  ]);
  const progress = startProgress(io, clock, `uploading ${path}`);
  try {
    return await uploadFile(path, {
      command,
      locate: (program) => findProgram(context.system, program, context.env),
      signal,
    });
  } finally {
    progress.stop();
  }
}
