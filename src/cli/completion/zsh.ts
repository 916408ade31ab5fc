import type { DescribedFlag } from '../described-command.ts';
import type { ValueSource } from '../value-sources.ts';
import type { Grammar, Place } from './grammar.ts';

/** The parts of the script for zsh that come from the command tree: a function for each place. */
export function zshParts({ places }: Grammar): Record<string, string> {
  return { functions: places.map((place) => placeFunction(place)).join('\n\n') };
}

function placeFunction(place: Place): string {
  const { commands, path } = place;
  const specs = [...place.flags.map(flagSpec), ...operandSpecs(place)].map((spec) => `    ${spec}`);
  const body = [`  _arguments -C -s -S \\\n${specs.join(' \\\n')}`];
  if (commands.length > 0) body.push(choice(path, place));
  return `${functionName(path)}() {\n${body.join('\n')}\n}`;
}

/** What follows a noun: its verbs, each with a function of its own. */
function choice(path: string, { commands }: Place): string {
  const described = commands.map(
    ({ description, word }) => `        ${quoted(`${word}:${description}`)}`,
  );
  const cases = commands.map(
    ({ word }) => `        ${word}) ${functionName(path === '' ? word : `${path} ${word}`)} ;;`,
  );
  return `  case $state in
    commands)
      local -a commands=(
${described.join('\n')}
      )
      _describe -t commands command commands
      ;;
    rest)
      curcontext=\${curcontext%:*:*}:foley-$line[1]:
      case $line[1] in
${cases.join('\n')}
      esac
      ;;
  esac`;
}

function operandSpecs({ arguments: sources, commands }: Place): string[] {
  if (commands.length > 0) return [quoted('1: :->commands'), quoted('*:: :->rest')];
  return sources.map((source, index) => {
    const position = index === sources.length - 1 ? '*' : String(index + 1);
    return quoted(`${position}: :${action(source)}`);
  });
}

function flagSpec({ description, long, short, source, value }: DescribedFlag): string {
  const told = `[${escaped(description)}]`;
  const takes = value === undefined ? '' : `:${escaped(value)}:${action(source)}`;
  const repeats = /may be repeated/.test(description) ? '*' : '';
  const sign = value === undefined ? '' : '=';
  if (short === undefined) return quoted(`${repeats}${long}${sign}${told}${takes}`);
  const only = repeats === '' ? quoted(`(${short} ${long})`) : "'*'";
  const shortSign = value === undefined ? '' : '+';
  return `${only}{${short}${shortSign},${long}${sign}}${quoted(`${told}${takes}`)}`;
}

/** How zsh finds words of one source. */
function action(source: ValueSource): string {
  if (source === 'files') return '_files';
  if (source === 'folders') return '_files -/';
  // A list without words; a space, which the manual has for it, keeps flags from being inserted.
  if (typeof source === 'string') return '()';
  // Without the space zsh would put words of its own before ours.
  return 'known' in source ? ` _foley_known ${source.known}` : `(${source.words.join(' ')})`;
}

function functionName(path: string): string {
  return path === '' ? '_foley_at_root' : `_foley_at_${path.replaceAll(/[ -]/g, '_')}`;
}

function escaped(text: string): string {
  return text.replaceAll(/[[\]:\\]/g, String.raw`\$&`);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
