import { ENVIRONMENT } from '../../contract/values.ts';
import { EXIT_CODES } from '../../contract/exit-codes.ts';
import type {
  DescribedArgument,
  DescribedCommand,
  DescribedFlag,
  DescribedTree,
} from '../described-command.ts';
import { everyCommand } from '../described-command.ts';

// The date of the last review of the hand-written sections.
const MANUAL_DATE = '2026-11-20';

/** Returns the manual pages by file name: `foley.1`, and one for each top-level command with its subcommands. */
export function manPages(tree: DescribedTree, version: string): Map<string, string> {
  const pages = tree.commands.map((command) => commandPage(command, version));
  return new Map([['foley.1', mainPage(tree, version)], ...pages]);
}

function mainPage({ commands, globalFlags }: DescribedTree, version: string): string {
  return page('foley', version, [
    section('name', paragraphs([`foley - ${OVERVIEW.summary}`])),
    section('synopsis', `${bold('foley')} ${italic('command')} [${italic('flags')}]`),
    section('description', paragraphs(OVERVIEW.description)),
    section(
      'commands',
      commands.map(({ path, summary }) => item(bold(path.join(' ')), `${summary}.`)).join('\n'),
    ),
    section('global options', flagItems(globalFlags)),
    section('exit status', exitStatus()),
    section(
      'environment',
      Object.entries(ENVIRONMENT)
        .map(([name, what]) => item(bold(name), `${what}.`))
        .join('\n'),
    ),
    section('files', FILES.map(([file, what]) => item(italic(file), what)).join('\n')),
    section('billing safety', paragraphs(BILLING)),
    section('examples', verbatim(FIRST_STEPS)),
    section('see also', seeAlso(commands.map(({ path: [name = ''] }) => `foley-${name}`))),
  ]);
}

function commandPage(command: DescribedCommand, version: string): [string, string] {
  const name = `foley-${command.path.join('-')}`;
  const described = command.children.length === 0 ? leafSections(command) : verbSections(command);
  const sections = [
    section('name', paragraphs([`${name} - ${command.summary}`])),
    ...described,
    section('see also', seeAlso(['foley'])),
  ];
  return [`${name}.1`, page(name, version, sections)];
}

function leafSections(command: DescribedCommand): string[] {
  const { arguments: taken, description, flags, notes } = command;
  return [
    section('synopsis', synopsis(command)),
    section('description', paragraphs([description])),
    ...(taken.length === 0 ? [] : [section('arguments', argumentItems(taken))]),
    ...(flags.length === 0 ? [] : [section('options', flagItems(flags))]),
    ...noteBlocks(notes).map(({ body, title }) => section(title ?? 'notes', body)),
  ];
}

function verbSections({ children, description, fallback }: DescribedCommand): string[] {
  const usual = fallback === undefined ? [] : [`Without a verb it is ${fallback}.`];
  const verbs = children.map((verb) => {
    const { arguments: taken, description: what, flags, notes, path } = verb;
    const parts = [
      synopsis(verb),
      `.PP\n${paragraphs([what])}`,
      ...(taken.length === 0 ? [] : [argumentItems(taken)]),
      ...(flags.length === 0 ? [] : [flagItems(flags)]),
      ...noteBlocks(notes).map(({ body, title }) =>
        title === undefined ? `.PP\n${body}` : `.PP\n${escapeRoff(title)}:\n${body}`,
      ),
    ];
    return subsection(`foley ${path.join(' ')}`, parts.join('\n'));
  });
  return [
    section('synopsis', children.map((verb) => synopsis(verb)).join('\n.br\n')),
    section('description', paragraphs([description, ...usual])),
    section('commands', verbs.join('\n')),
  ];
}

function synopsis({ path, usage }: DescribedCommand): string {
  return `${bold(`foley ${path.join(' ')}`)} ${escapeRoff(usage)}`;
}

function argumentItems(taken: readonly DescribedArgument[]): string {
  return taken.map(({ description, name }) => item(italic(name), `${description}.`)).join('\n');
}

function flagItems(flags: readonly DescribedFlag[]): string {
  return flags.map((flag) => item(flagTerm(flag), `${flag.description}.`)).join('\n');
}

function flagTerm({ long, short, value }: DescribedFlag): string {
  const names = short === undefined ? bold(long) : `${bold(short)}, ${bold(long)}`;
  return value === undefined ? names : `${names} ${italic(value)}`;
}

function exitStatus(): string {
  return Object.values(EXIT_CODES)
    .map(({ code, meaning }) => item(bold(String(code)), `${meaning}.`))
    .join('\n');
}

function noteBlocks(
  notes: string,
): { readonly title: string | undefined; readonly body: string }[] {
  return notes
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      const [first = '', ...lines] = block.split('\n');
      const isList = first.endsWith(':') && lines.length > 0;
      if (!isList) return { title: undefined, body: paragraphs([block]) };
      return { title: first.slice(0, -1), body: verbatim(lines.join('\n')) };
    });
}

function seeAlso(names: readonly string[]): string {
  return names.map((name) => `${bold(name)}(1)`).join(',\n');
}

function page(name: string, version: string, sections: readonly string[]): string {
  const title = `.TH ${escapeRoff(name.toUpperCase())} 1 ${MANUAL_DATE} "foley ${version}" "foley manual"`;
  const origin = String.raw`.\" Written by "npm run generate"; changes here are lost.`;
  return `${[origin, title, ...sections].join('\n')}\n`;
}

const OVERVIEW = {
  summary: 'audio production from the command line, with a complete offline service built in',
  description: [
    'foley creates speech, word-timed captions, realtime speech, cloned and designed voices, lip sync, dubbing, images and videos with one ' +
      'audio-generation API. It includes a complete offline implementation of that API, which it uses when no service is configured.',
    'Only the result goes to stdout: audio, a table, or with --json one document. Everything else goes to stderr. ' +
      'An output file is complete or missing: foley writes, checks and syncs a temporary file, and renames it.',
  ],
} as const;

const FILES = [
  ['$XDG_CONFIG_HOME/foley/config.json', 'Settings: see foley config list.'],
  ['$XDG_CONFIG_HOME/foley/accounts.json', 'Accounts and their keys, readable by you alone.'],
  [
    '$XDG_STATE_HOME/foley',
    'Billed audio that is not delivered yet, and the data of the embedded service.',
  ],
  ['$XDG_DATA_HOME/foley/models', 'Models and voices of the engines that foley installs.'],
  ['$XDG_CACHE_HOME/foley', 'Compiled code, and names for completion. It may be removed.'],
  ['foley.config.json', 'Settings of a project, in the current folder or a folder above.'],
] as const;

const BILLING = [
  'foley journals every billed request before sending it, with a key that makes a retry free. ' +
    'It keeps billed audio that cannot be written to the output; foley recover delivers the audio.',
  'Rerunning a batch speaks only what is missing. Exit code 26 means that the outcome of a billed request is unknown, and names the key ' +
    'that makes a retry free; 27 means that a billed result is lost.',
] as const;

const FIRST_STEPS = `foley tts "Hello from foley" -o hello.mp3
foley tts -f chapter.txt -o chapter.mp3 --subtitles chapter.srt
foley batch chapters/ --output-dir audio
foley serve --port 4747`;

const LINE_BYTES = 79;

function escapeRoff(text: string): string {
  const escaped = text
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)
    .replaceAll(/[^\x20-\x7e\n]/gu, (character) => {
      const code = character.codePointAt(0) ?? 0;
      return `\\[u${code.toString(16).toUpperCase().padStart(4, '0')}]`;
    });
  // roff treats a line that begins with a dot or a quote as a request.
  return escaped.replaceAll(/^[.']/gm, String.raw`\&$&`);
}

function bold(text: string): string {
  return `\\fB${escapeRoff(text)}\\fR`;
}

function italic(text: string): string {
  return `\\fI${escapeRoff(text)}\\fR`;
}

function item(term: string, meaning: string): string {
  return `.TP\n${term}\n${flowing(meaning)}`;
}

function section(title: string, body: string): string {
  return `.SH ${escapeRoff(title.toUpperCase())}\n${body}`;
}

function subsection(title: string, body: string): string {
  return `.SS ${escapeRoff(title)}\n${body}`;
}

function verbatim(text: string): string {
  return `.nf\n${escapeRoff(text)}\n.fi`;
}

function paragraphs(texts: readonly string[]): string {
  return texts.map(flowing).join('\n.PP\n');
}

// The lines are for editors: roff fills them again.
function flowing(text: string): string {
  const lines = [''];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1) ?? '';
    const longer = line === '' ? word : `${line} ${word}`;
    if (escapeRoff(longer).length > LINE_BYTES && line !== '') lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return escapeRoff(lines.join('\n'));
}

/** Returns the content of `docs/reference.md`: every command with its arguments, flags and examples. */
export function referencePage({ commands, globalFlags }: DescribedTree): string {
  const exitCodes = Object.values(EXIT_CODES).map(
    ({ code, meaning }) => `| ${code} | ${meaning} |`,
  );
  const parts = [
    '# Reference\n\nEvery command, as `foley help` has it. This page is written from the command tree by `npm run generate`.',
    contents(commands),
    ...everyCommand(commands).map((command) => commandPart(command)),
    `## Flags of every command\n\n${flagTable(globalFlags)}`,
    `## Exit codes\n\n| code | meaning |\n| --- | --- |\n${exitCodes.join('\n')}`,
  ];
  return `${parts.join('\n\n')}\n`;
}

function contents(commands: readonly DescribedCommand[]): string {
  return commands
    .map(
      ({ path, summary }) =>
        `- [\`foley ${path.join(' ')}\`](#foley-${path.join('-')}): ${summary}`,
    )
    .join('\n');
}

function commandPart(command: DescribedCommand): string {
  const { aliases, arguments: taken, children, description, flags, notes, path, usage } = command;
  const names = taken.map(({ description: what, name }) => `- \`${name}\`: ${what}`);
  const parts = [
    `${'#'.repeat(path.length + 1)} foley ${path.join(' ')}`,
    description,
    children.length > 0 ? '' : `\`\`\`\nfoley ${path.join(' ')} ${usage}\n\`\`\``,
    aliases.length === 0 ? '' : `Also: ${aliases.map((name) => `\`${name}\``).join(', ')}.`,
    names.join('\n'),
    flags.length === 0 ? '' : flagTable(flags),
    notes === '' ? '' : `\`\`\`\n${notes}\n\`\`\``,
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function flagTable(flags: readonly DescribedFlag[]): string {
  const rows = flags.map(({ description, long, short, value }) => {
    const names = [short, long].filter((name) => name !== undefined).join(', ');
    const flag = value === undefined ? names : `${names} <${value}>`;
    return `| \`${flag}\` | ${description.replaceAll('|', String.raw`\|`)} |`;
  });
  return ['| flag | what it does |', '| --- | --- |', ...rows].join('\n');
}
