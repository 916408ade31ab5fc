import { superscriptDigits } from './superscript.ts';

/** Returns a fraction such as `1/2`. */
export function fractionText(above: string, below: string): string {
  return `${inParentheses(above)}/${inParentheses(below)}`;
}

/** Returns a power such as `x²` or `x^(n + 1)`. */
export function powerText(base: string, exponent: string): string {
  if (/^[-−+]?\d{1,4}$/.test(exponent)) return base + superscriptDigits(exponent);
  return /^[′″*†∗]+$/.test(exponent) ? base + exponent : `${base}^${inParentheses(exponent)}`;
}

/** Returns a symbol with an index: `x1` for a number, otherwise `x i`. */
export function indexedText(base: string, index: string): string {
  return /^\d{1,4}$/.test(index) && base.length < 3 ? base + index : `${base} ${index}`;
}

/** Returns a root such as `√2`, or `3√x` for a cube root. */
export function rootText(content: string, degree = ''): string {
  return `${degree}√${inParentheses(content)}`;
}

/** Joins the parts of a formula. White space stands around operators, and between letters. */
export function joinFormula(parts: readonly string[]): string {
  const joined: string[] = [];
  let tail = '';
  for (const part of parts) {
    const isInfix = INFIX.test(part) && tail !== '' && !/[\s([{,=]$/.test(tail);
    const isWord = /^[\p{L}\p{N}√]/u.test(part) && !/[\s([{√|]$/.test(tail);
    const ending = /^\p{L}/u.test(part) ? LETTER_END : TERM_END;
    const text = isInfix ? ` ${part} ` : isWord && ending.test(tail) ? ` ${part}` : part;
    joined.push(text);
    tail = (tail + text).slice(-2);
  }
  return joined.join('').replaceAll(/\s+/g, ' ').trim();
}

const LETTER_END = /[\p{L}\p{M}⁰-⁹²³¹),;]$/u;
const TERM_END = /(?:\p{L}{2}|[⁰-⁹²³¹),;])$/u;

function inParentheses(text: string): string {
  return /^(?:[\p{L}\p{N}.]*|\(.*\))$/u.test(text) ? text : `(${text})`;
}

const INFIX = /^[=+−<>≤≥≠≈≡±∓×÷·→⇒∈∉⊂⊆∪∩∝-]$/;

/** Maximum length of a formula in LaTeX, in UTF-16 units. */
export const LONGEST_LATEX = 2_000;

/** Returns true for LaTeX, such as `\frac{1}{2}` or `{\displaystyle x}`. */
export function isLatex(text: string): boolean {
  return /\\[a-zA-Z]+|[_^]\{/.test(text);
}

/**
 * Converts a formula from LaTeX to text, such as `x² + 1/2` for `x^2 + \frac{1}{2}`.
 * @param latex at most {@link LONGEST_LATEX} units
 */
export function latexText(latex: string): string {
  const tokens = latex.match(TOKEN) ?? [];
  return readGroup({ tokens, at: 0 }, 0);
}

/** Maximum length of a formula between marks, in UTF-16 units. */
const LONGEST_MARKED_FORMULA = 400;

/**
 * Reads a formula such as `$x^2$`, `$$x$$` or `\(x\)` at the beginning of `rest`. Returns undefined if the dollar sign is
 * an amount of money.
 * @param before the character before the formula
 * @returns the length of the formula with its marks, and its text
 */
export function readFormula(
  rest: string,
  before: string,
): { readonly length: number; readonly text: string } | undefined {
  const pattern = rest.startsWith('$$') ? DISPLAY : rest.startsWith('$') ? DOLLARS : BRACKETS;
  if (pattern === DOLLARS && WORD.test(before)) return undefined;
  const [all, ...contents] = pattern.exec(rest.slice(0, LONGEST_MARKED_FORMULA)) ?? [];
  const formula = contents.find((content) => content !== undefined);
  if (all === undefined || formula === undefined) return undefined;
  const isCertain =
    pattern === DISPLAY || (pattern === BRACKETS ? hasSigns(formula) : isFormula(formula));
  if (!isCertain) return undefined;
  // A formula is a word of its own.
  const after = rest.charAt(all.length);
  const text = (WORD.test(before) ? ' ' : '') + latexText(formula) + (WORD.test(after) ? ' ' : '');
  return { length: all.length, text };
}

function isFormula(text: string): boolean {
  // An amount of money before words.
  if (!isLatex(text) && /^[\d.,]+[kKmMbB]?\s.*\p{L}{3}/su.test(text)) return false;
  return hasSigns(text) || /^-?\d*\p{L}(?:\(\p{L}\))?$/u.test(text);
}

function hasSigns(text: string): boolean {
  return isLatex(text) || /[\^_=<>+]/.test(text);
}

const WORD = /[\p{L}\p{N}]/u;
const DISPLAY = /^\$\$((?:(?!\$\$|\n[ \t]*\n)[^])+)\$\$/;
const DOLLARS = /^\$(?!\s)((?:\\[^]|[^$\\\n])+)(?<!\s)\$(?![\p{L}\p{N}{$])/u;
const BRACKETS = /^\\(?:\(((?:(?!\\\)|\n[ \t]*\n)[^])+)\\\)|\[((?:(?!\\\]|\n[ \t]*\n)[^])+)\\\])/;

interface LatexReader {
  readonly tokens: readonly string[];
  at: number;
}

const MAX_DEPTH = 40;
const TOKEN = /\\[a-zA-Z]+\*?|\\[^]|\d+(?:[.,]\d+)*|\s+|[^]/gu;

function readGroup(reader: LatexReader, depth: number): string {
  const parts: string[] = [];
  while (reader.at < reader.tokens.length) {
    const token = reader.tokens[reader.at] ?? '';
    if (token === '}' && depth > 0) break;
    const isScript = token === '^' || token === '_';
    if (isScript) {
      reader.at += 1;
      const script = readArgument(reader, depth);
      const base = parts.pop() ?? '';
      parts.push(token === '^' ? powerText(base, script) : indexedText(base, script));
    } else parts.push(readArgument(reader, depth));
  }
  return joinFormula(parts.filter((part) => part !== ''));
}

function readArgument(reader: LatexReader, depth: number): string {
  const { tokens } = reader;
  while (/^\s/.test(tokens[reader.at] ?? '')) reader.at += 1;
  const token = tokens[reader.at] ?? '';
  reader.at += 1;
  if (token === '{' && depth < MAX_DEPTH) {
    const content = readGroup(reader, depth + 1);
    reader.at += 1;
    return content;
  }
  if (!token.startsWith('\\')) return /^[{}&~]$/.test(token) ? ' ' : (SIGNS[token] ?? token);
  return readCommand(token.slice(1), reader, depth);
}

function readCommand(name: string, reader: LatexReader, depth: number): string {
  if (depth >= MAX_DEPTH) return '';
  if (/^[dtc]?frac$/.test(name)) {
    const above = readArgument(reader, depth + 1);
    return fractionText(above, readArgument(reader, depth + 1));
  }
  if (name === 'sqrt') {
    const degree = reader.tokens[reader.at] === '[' ? readOption(reader) : '';
    return rootText(readArgument(reader, depth + 1), degree);
  }
  if (name === 'begin' || name === 'end') {
    readArgument(reader, depth + 1);
    return '';
  }
  if (/^(?:text|mathrm|operatorname|mbox)/.test(name)) return readWords(reader);
  return COMMANDS.get(name) ?? (UNSPOKEN.test(name) ? ' ' : name);
}

function readOption(reader: LatexReader): string {
  const end = reader.tokens.indexOf(']', reader.at);
  const option = reader.tokens.slice(reader.at + 1, end === -1 ? reader.at + 1 : end);
  reader.at = end === -1 ? reader.at + 1 : end + 1;
  return option.join('');
}

// Words keep their white space.
function readWords(reader: LatexReader): string {
  if (reader.tokens[reader.at] !== '{') return '';
  const end = reader.tokens.indexOf('}', reader.at);
  const words = reader.tokens.slice(reader.at + 1, end === -1 ? undefined : end);
  reader.at = end === -1 ? reader.tokens.length : end + 1;
  return words.join('').trim();
}

const SIGNS: Readonly<Record<string, string>> = { '-': '−', "'": '′', '*': '∗' };

// Commands that change only the look of a formula.
const UNSPOKEN =
  /^(?:displaystyle|textstyle|scriptstyle|left|right|big+|Big+|[bB]igg?[lr]|limits|nolimits|quad|qquad|math(?:bf|it|bb|cal|sf|frak|scr)|boldsymbol|bm|hat|bar|vec|tilde|dot|ddot|overline|underline|tag|label|nonumber|hline|[,;:!> \\|])$/;

const COMMANDS: ReadonlyMap<string, string> = new Map(
  `alpha=α beta=β gamma=γ delta=δ epsilon=ε varepsilon=ε zeta=ζ eta=η theta=θ iota=ι kappa=κ lambda=λ mu=μ nu=ν xi=ξ
  pi=π rho=ρ sigma=σ tau=τ upsilon=υ phi=φ varphi=φ chi=χ psi=ψ omega=ω Gamma=Γ Delta=Δ Theta=Θ Lambda=Λ Xi=Ξ Pi=Π
  Sigma=Σ Phi=Φ Psi=Ψ Omega=Ω times=× cdot=· div=÷ pm=± mp=∓ le=≤ leq=≤ ge=≥ geq=≥ ne=≠ neq=≠ approx=≈ sim=~ equiv=≡
  to=→ rightarrow=→ Rightarrow=⇒ implies=⇒ in=∈ notin=∉ subset=⊂ subseteq=⊆ cup=∪ cap=∩ infty=∞ partial=∂ nabla=∇
  sum=∑ prod=∏ int=∫ forall=∀ exists=∃ propto=∝ ldots=… cdots=… dots=… circ=° degree=° prime=′ lt=< gt=> %=% $=$ #=# &=& _=_`
    .split(/\s+/)
    .map((pair): [string, string] => [
      pair.slice(0, pair.indexOf('=', 1)),
      pair.slice(pair.indexOf('=', 1) + 1),
    ]),
);
