import type {
  DescribedCommand,
  DescribedFlag,
  DescribedTree,
} from '../../src/cli/described-command.ts';
import { everyCommand } from '../../src/cli/described-command.ts';
import type { ObjectSchema, OutputSchemas, Schema } from '../../src/cli/output-schema.ts';
import { objectTypes, usedDefinitions } from '../../src/cli/output-schema.ts';

/** A tool of the MCP server: a command of foley, and the flags of the command that a program may set. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The command, or one for each value of the property `action`. */
  readonly command: readonly string[] | { readonly actions: readonly string[] };
  readonly flags: readonly string[];
  /** Flags that must be given. */
  readonly required?: readonly string[];
  /**
   * The property for what a command takes as an argument: a file, text that goes to stdin, or an id. `text` may be replaced
   * by the flag `file`.
   */
  readonly argument?: 'text' | 'file' | 'audio' | 'id';
  readonly isOptional?: true;
  /** Whether the command may cost credits. */
  readonly isPaid?: true;
  /** Whether the command tells how many lines it will speak, and each that is done. */
  readonly tellsLines?: true;
}

const READING = [
  'text-format',
  'only-chapters',
  'skip-front-matter',
  'drop-sounds',
  'lexicon',
] as const;
const VOICE = ['voice', 'voice-name', 'model', 'language'] as const;
const SOUND = ['speed', 'volume', 'pitch', 'emotion', 'instruction'] as const;
const TAGS = ['title', 'author', 'album', 'cover'] as const;

/** The tools, in the order of `tools/list`. */
export const TOOLS: readonly Tool[] = [
  {
    name: 'speak',
    title: 'Speak a text',
    description:
      'Speaks a text, or a document such as a book, into an audio file, with captions if they are asked for.',
    command: ['tts'],
    argument: 'text',
    flags: [
      'file',
      'output',
      ...READING,
      'pauses',
      'voices',
      ...VOICE,
      ...SOUND,
      'loudness',
      'trim',
      ...TAGS,
      'subtitles',
      'timings',
    ],
    required: ['output'],
    isPaid: true,
  },
  {
    name: 'speak_script',
    title: 'Speak a script with several voices',
    description:
      'Makes one recording from a script: lines such as `ADA: Hello.`, a table, a book or subtitles. Run again, it speaks and bills only what changed.',
    command: ['script'],
    argument: 'file',
    flags: [
      'output',
      'script-format',
      'only-chapters',
      'skip-front-matter',
      'drop-sounds',
      'lexicon',
      'cast',
      'cast-file',
      ...VOICE,
      ...SOUND,
      'gap',
      'chapter-gap',
      'loudness',
      ...TAGS,
      'subtitles',
      'timings',
      'chapters',
    ],
    required: ['output'],
    isPaid: true,
    tellsLines: true,
  },
  {
    name: 'caption',
    title: 'Convert captions',
    description: 'Writes subtitles from word times or from other subtitles.',
    command: ['captions'],
    argument: 'file',
    flags: ['subtitles', 'timings', 'cue-preset', 'cue-by'],
    required: ['subtitles'],
  },
  {
    name: 'align',
    title: 'Align a text with its recording',
    description: 'Finds the words of a text in a recording of it, and writes captions.',
    command: ['align'],
    argument: 'audio',
    flags: ['file', ...READING, 'language', 'subtitles', 'timings'],
    required: ['file'],
  },
  {
    name: 'list_voices',
    title: 'List the voices',
    description: 'Lists the voices with their ids, languages and descriptions.',
    command: ['voices', 'list'],
    flags: ['all', 'page', 'page-size', 'language', 'search', 'type'],
  },
  {
    name: 'list_models',
    title: 'List the models',
    description: 'Lists the models with their limits.',
    command: ['models', 'list'],
    flags: [],
  },
  {
    name: 'preview',
    title: 'Show what will be said, and its price',
    description:
      'Returns the text that would be sent and billed, with the number of characters and the estimated credits. Sends nothing.',
    command: ['text'],
    argument: 'text',
    flags: ['file', ...READING, 'pauses', 'model', 'reading', 'language'],
  },
  {
    name: 'job',
    title: 'Create, watch and fetch speech jobs',
    description:
      'Creates a speech job, which goes on without this server; or shows, lists, awaits or downloads jobs.',
    command: { actions: ['create', 'get', 'list', 'wait', 'download'] },
    argument: 'text',
    flags: ['file', 'output', 'timeout', ...READING, ...VOICE, ...SOUND],
    isPaid: true,
  },
  {
    name: 'recover',
    title: 'Recover billed results',
    description:
      'Fetches what was paid for and not delivered, for example after a cancelled call; with an id, only that result.',
    command: ['recover'],
    argument: 'id',
    isOptional: true,
    flags: ['list'],
  },
];

/** Flags whose files are written. */
export const OUTPUTS: ReadonlySet<string> = new Set(['output', 'subtitles', 'timings', 'chapters']);

/** Returns the commands of a tool. */
export function commandsOf({ command }: Tool, tree: DescribedTree): readonly DescribedCommand[] {
  const paths = 'actions' in command ? command.actions.map((one) => ['jobs', one]) : [command];
  const all = everyCommand(tree.commands);
  return paths.map((path) => {
    const found = all.find((one) => one.path.join(' ') === path.join(' '));
    if (found === undefined) throw new Error(`There is no command ${path.join(' ')}.`);
    return found;
  });
}

/** Returns the flag of a command; undefined if this command does not have it. */
export function flagOf(command: DescribedCommand, name: string): DescribedFlag | undefined {
  return command.flags.find(({ long }) => long === `--${name}`);
}

/** Returns the name of the property for a flag. */
export function propertyOf(flag: string): string {
  return flag.replaceAll('-', '_');
}

/** Returns the JSON Schema of the arguments of a tool, which comes from the flags of its command. */
export function inputSchema(tool: Tool, tree: DescribedTree): Record<string, unknown> {
  const commands = commandsOf(tool, tree);
  const { argument, command, flags, isOptional, required = [] } = tool;
  const properties: Record<string, unknown> = {};
  const needed = required.map(propertyOf);
  if ('actions' in command) {
    properties['action'] = { type: 'string', enum: command.actions };
    properties['id'] = { type: 'string', description: 'id of the job' };
    needed.push('action');
  }
  if (argument === 'text') {
    properties['text'] = { type: 'string', description: 'text to speak, instead of a file' };
  } else if (argument !== undefined) {
    const [shown] = commands[0]?.arguments ?? [];
    properties[argument] = { type: 'string', description: shown?.description ?? argument };
    if (isOptional !== true) needed.push(argument);
  }
  for (const name of flags) {
    const flag = commands.map((one) => flagOf(one, name)).find((one) => one !== undefined);
    if (flag === undefined) throw new Error(`The tool ${tool.name} has no flag --${name}.`);
    properties[propertyOf(name)] = schemaOf(flag, REPEATED.has(name));
  }
  return { type: 'object', properties, required: needed, additionalProperties: false };
}

/** Returns the JSON Schema of the results of a tool, which comes from the `--json` output of its commands. */
export function outputSchema(
  tool: Tool,
  { schemas: { $defs, commands }, tree }: { schemas: OutputSchemas; tree: DescribedTree },
): Schema {
  const results = commandsOf(tool, tree).flatMap(({ path }) => {
    const { event, output } = commands[path.join(' ')] ?? {};
    return [
      ...objectTypes(output ?? {}, $defs),
      ...(event === undefined ? [] : [mergedEvents(objectTypes(event, $defs))]),
    ];
  });
  const anyOf = results.map(({ properties, required = [], ...rest }) => ({
    ...rest,
    properties: { ...properties, ...CALL_PROPERTIES },
    required: [...required, 'exitCode'],
  }));
  const failed = {
    type: 'object',
    description: 'A call that failed',
    properties: CALL_PROPERTIES,
    required: ['error', 'exitCode'],
    additionalProperties: false,
  };
  const used = usedDefinitions([{ anyOf: [...anyOf, failed] }], $defs);
  return { type: 'object', anyOf: [...anyOf, failed], $defs: used };
}

/** What a result has in addition to what the command prints. */
const CALL_PROPERTIES: Readonly<Record<string, Schema>> = {
  exitCode: { $ref: '#/$defs/ExitCode' },
  files: {
    type: 'array',
    items: { type: 'string' },
    description: 'The files that were written, below the folder of the server',
  },
  error: { $ref: '#/$defs/ErrorDocument/properties/error' },
};

// A result has the fields of all events, and the items as a list.
function mergedEvents(events: readonly ObjectSchema[]): ObjectSchema {
  const others = events.filter((event) => !isItem(event)).map(({ properties }) => properties);
  const { event: _, ...fields } = Object.assign({}, ...others);
  const items = { type: 'array', items: { anyOf: events.filter(isItem) } };
  return { type: 'object', properties: { ...fields, items }, additionalProperties: false };
}

function isItem({ properties }: ObjectSchema): boolean {
  return properties?.['event']?.['const'] === 'item';
}

// Flags that may be given more than once.
const REPEATED: ReadonlySet<string> = new Set(['cast', 'lexicon', 'subtitles']);

function schemaOf(
  { description, source, value }: DescribedFlag,
  isRepeated: boolean,
): Record<string, unknown> {
  if (value === undefined) return { type: 'boolean', description };
  if (value === 'n' || value === 'lufs') return { type: 'number', description };
  const isClosed = typeof source === 'object' && 'words' in source && source.isList !== true;
  if (isClosed) return { type: 'string', enum: source.words, description };
  return isRepeated
    ? { type: 'array', items: { type: 'string' }, description }
    : { type: 'string', description };
}
