import { readFileSync } from 'node:fs';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { tree } from '../../commands/tree.ts';
import type { OutputSchemas } from '../../src/cli/output-schema.ts';
import { commandSchema } from '../../src/cli/output-schema.ts';
import { findInvocation } from '../../src/cli/program.ts';

/**
 * Checks what a command printed with `--json` against the schema that `foley help COMMAND --schema` prints.
 * @throws an error that names the fields that do not match
 */
export function checkOutput(
  args: readonly string[],
  { stderr, stdout }: { readonly stderr: string; readonly stdout: Buffer },
): void {
  const end = args.indexOf('--');
  const flags = end === -1 ? args : args.slice(0, end);
  // A shell may ask for the completions of any line.
  if (!flags.includes('--json') || args[0] === '__complete') return;
  const name = commandOf(args);
  const { event, output } = schemas().commands[name] ?? {};
  for (const line of linesOf(stderr).filter((one) => one.startsWith('{'))) {
    const isError = event === undefined || line.startsWith('{"error":');
    check(args, [name, isError ? 'ErrorDocument' : 'Event'], line);
  }
  if (flags.some((flag) => /^(?:--jq|--version|-V)\b/.test(flag))) return;
  const part = output === undefined ? 'Event' : 'Output';
  for (const line of linesOf(stdout.toString())) check(args, [name, part], line);
}

// The last line may be cut, if the program was killed or its reader left.
function linesOf(text: string): readonly string[] {
  return text.split('\n').slice(0, -1);
}

/** Returns the name of the command that a line runs; `help` for a line that is refused. */
function commandOf(args: readonly string[]): string {
  try {
    const found = findInvocation(args, tree);
    const isHelp = found.words.some((word) => word === '--help' || word === '-h');
    return found.kind === 'leaf' && !isHelp ? found.path.join(' ') : 'help';
  } catch {
    return 'help';
  }
}

let loaded: OutputSchemas | undefined;
const validators = new Map<string, ValidateFunction>();

function schemas(): OutputSchemas {
  const file = new URL('../../dist/schemas.json', import.meta.url);
  return (loaded ??= JSON.parse(readFileSync(file, 'utf8')));
}

function check(
  args: readonly string[],
  [name, part]: readonly [string, string],
  line: string,
): void {
  const key = `${name} ${part}`;
  const validate = validators.get(key) ?? compile(name, part);
  validators.set(key, validate);
  if (validate(JSON.parse(line))) return;
  const problems = (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
  throw new Error(
    `foley ${args.join(' ')} printed what is not the ${part} of its schema:\n${problems.join('\n')}\n${line.slice(0, 2_000)}`,
  );
}

function compile(name: string, part: string): ValidateFunction {
  const schema = commandSchema(schemas(), name);
  if (schema === undefined) throw new Error(`The command ${name} has no schema.`);
  return new Ajv2020({ allowUnionTypes: true }).compile({
    ...schema,
    anyOf: [{ $ref: `#/$defs/${part}` }],
  });
}
