import type { Context } from '../../src/cli/command.ts';
import { readInput } from '../../src/cli/read-input.ts';
import { octal, sharedPermissions } from '../../src/config/accounts.ts';
import { parseAcceptedKeys } from '../../src/embedded/accepted-keys.ts';
import type { AccountKey } from '../../src/service/running-service.ts';
import { display } from '../../src/text/display.ts';

/**
 * Reads the file of `--accept-keys-file`, which lists API keys; `-` is stdin. Warns if other users can access the file.
 * @throws Failure of kind `usage` if the file cannot be read or is invalid
 */
export async function readAcceptedKeys(
  context: Context,
  file: string,
): Promise<readonly AccountKey[]> {
  const name = `--accept-keys-file ${display(file)}`;
  const bytes = await readInput(context, file, name);
  const mode = file === '-' ? undefined : await sharedPermissions(file, context);
  if (mode !== undefined) {
    context.io.warn(
      `foley: ${display(file)} contains API keys and is readable by others (${octal(mode)}); run chmod 600 on it`,
    );
  }
  return parseAcceptedKeys(bytes.toString('latin1'), name);
}
