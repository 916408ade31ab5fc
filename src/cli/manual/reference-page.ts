import { EXIT_CODES } from '../../contract/exit-codes.ts';
import type { DescribedCommand, DescribedFlag, DescribedTree } from '../described-command.ts';
import { everyCommand } from '../described-command.ts';

/** `docs/reference.md`: every command with its arguments, flags and examples. */
export function referencePage({ commands, globalFlags }: DescribedTree): string {
  const parts = [
    '# Reference\n\nEvery command, as `foley help` has it. This page is written from the command tree by `npm run generate`.',
    contents(commands),
    ...everyCommand(commands).map((command) => commandPart(command)),
    `## Flags of every command\n\n${flagTable(globalFlags)}`,
    `## Exit codes\n\n${exitCodes()}`,
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

function exitCodes(): string {
  const rows = Object.values(EXIT_CODES).map(({ code, meaning }) => `| ${code} | ${meaning} |`);
  return ['| code | meaning |', '| --- | --- |', ...rows].join('\n');
}
