import { latexText, LONGEST_LATEX, readFormula } from '../formats/formula.ts';

/** A formula in LaTeX in a plain text. */
export interface Formula {
  /** Start of the formula with its marks, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** The formula without LaTeX, such as `x² + 1/2`. */
  readonly text: string;
}

/**
 * Finds what is certainly a formula: `$x^2$`, `$$x$$`, `\(x\)`, `\[x\]`, and commands with arguments, such as
 * `\frac{1}{2}`. Amounts of money, variables of shells and paths of Windows are none. The time is proportional to the
 * length of the text.
 */
export function findFormulas(text: string): readonly Formula[] {
  const formulas: Formula[] = [];
  let end = 0;
  for (const { 0: sign, index } of text.matchAll(BEGINNING)) {
    if (index < end) continue;
    const before = text.charAt(index - 1);
    const rest = text.slice(index, index + LONGEST_LATEX);
    const found = /^\\[a-z]/.test(sign) ? readCommand(rest, before) : readMarked(rest, before);
    if (found === undefined || !/[\p{L}\p{N}]/u.test(found.text)) continue;
    end = index + found.length;
    formulas.push({ start: index, end, text: found.text });
  }
  return formulas;
}

type Found = { readonly length: number; readonly text: string } | undefined;

function readMarked(rest: string, before: string): Found {
  const found = /[\p{L}\p{N}$\\]/u.test(before) ? undefined : readFormula(rest, before);
  if (found === undefined) return undefined;
  const isBracket = rest.startsWith('\\');
  const marks = isBracket || rest.startsWith('$$') ? 2 : 1;
  const formula = rest.slice(marks, found.length - marks).trim();
  return isBracket || isCertain(formula) ? found : undefined;
}

// Between dollar signs, words are a sentence about prices.
function isCertain(formula: string): boolean {
  const terms = formula.replaceAll(
    /\\(?:text|mbox|mathrm|operatorname)\*?\{[^{}]*\}|\\[a-zA-Z]+/g,
    ' ',
  );
  if (WORD.test(terms) || MONEY.test(formula)) return false;
  return /[\\^_=<>+]/.test(formula) || LONE_TERM.test(formula);
}

// Commands with arguments need no marks around them.
function readCommand(rest: string, before: string): Found {
  const [all] = /[\p{L}\p{N}\\:]/u.test(before) ? [] : (COMMAND.exec(rest) ?? []);
  return all === undefined ? undefined : { length: all.length, text: latexText(all) };
}

const BEGINNING = /\$\$?|\\[([]|\\(?:[dtc]?frac|sqrt|sum|prod|int|lim)(?![a-z])/g;
const FUNCTIONS = 'sin|cos|tan|cot|sec|log|exp|lim|max|min|sup|inf|det|gcd|mod|arg|dim|ker';
const WORD = new RegExp(`(?<!\\p{L})(?!(?:${FUNCTIONS})(?!\\p{L}))\\p{L}{3,}`, 'u');
// An amount, such as `5`, `1.50`, `20+` and `5k`.
const MONEY = /^[\d.,]+(?:[kKmMbB]|bn|\+)?$/;
const LONE_TERM = /^-?\d*\p{L}(?:\([\p{L}\d]\))?$/u;
// Arguments in braces, up to two levels deep.
const GROUP = String.raw`\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}`;
const COMMAND = new RegExp(
  String.raw`^\\(?:[dtc]?frac\s?${GROUP}\s?${GROUP}|sqrt(?:\[[^\][]{1,9}\])?${GROUP}|(?:sum|prod|int|lim)(?:\\limits)?(?:[_^](?:${GROUP}|\\[a-zA-Z]+|[\p{L}\p{N}])){1,2})`,
  'u',
);
