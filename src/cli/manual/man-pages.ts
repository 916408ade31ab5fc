import { ENVIRONMENT } from '../../contract/environment.ts';
import { EXIT_CODES } from '../../contract/exit-codes.ts';
import type {
  DescribedArgument,
  DescribedCommand,
  DescribedFlag,
  DescribedTree,
} from '../described-command.ts';
import { BILLING, FILES, FIRST_STEPS, OVERVIEW } from './overview.ts';
import { bold, italic, item, paragraphs, plain, section, subsection, verbatim } from './roff.ts';

/** The manual's own date: when what is written by hand in it was read last. */
const MANUAL_DATE = '2026-11-20';

/** The manual pages by file name: `foley.1`, and one for each command with its verbs. */
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
        title === undefined ? `.PP\n${body}` : `.PP\n${plain(title)}:\n${body}`,
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
  return `${bold(`foley ${path.join(' ')}`)} ${plain(usage)}`;
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

/** The notes of a help: what has a title and indented lines stays as it is, the rest is text. */
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
  const title = `.TH ${plain(name.toUpperCase())} 1 ${MANUAL_DATE} "foley ${version}" "foley manual"`;
  const origin = String.raw`.\" Written by "npm run generate"; changes here are lost.`;
  return `${[origin, title, ...sections].join('\n')}\n`;
}
