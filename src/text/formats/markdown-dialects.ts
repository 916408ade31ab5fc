import type { MarkdownIt, StateInline } from 'markdown-it';
import { readFormula } from './formula.ts';

/** Markdown of GitHub, Obsidian and Pandoc at a position: `length` units, spoken as `text`. */
export interface DialectMark {
  readonly length: number;
  readonly text: string;
}

/** Maximum length of marks of dialects, in UTF-16 units. */
export const LONGEST_DIALECT_MARK = 400;

/**
 * Reads a link to a page such as `[[page|text]]`, or an embedded file such as `![[image.png]]`, at the beginning of `rest`.
 * @param before the character before the link
 */
export function readWikiLink(rest: string, before: string): DialectMark | undefined {
  const match = WIKI_LINK.exec(rest.slice(0, LONGEST_DIALECT_MARK));
  if (match === null || WORD.test(before) || rest.charAt(match[0].length) === '(') return undefined;
  const [all, embed, page = '', alias] = match;
  if (/^_?toc_?$/i.test(page)) return { length: all.length, text: '' };
  const isSize = alias !== undefined && /^\d+(?:x\d+)?$/.test(alias);
  if (embed === '!') return { length: all.length, text: isSize ? '' : (alias ?? '') };
  return { length: all.length, text: alias ?? page.replace(/^#/, '').replaceAll('#', ' ') };
}

/** Returns the length of highlighted text such as `==word==` at the beginning of `rest`; undefined for other text. */
export function highlightLength(rest: string, before: string): number | undefined {
  if (/[\p{L}\p{N}=]$/u.test(before)) return undefined;
  return HIGHLIGHT.exec(rest.slice(0, LONGEST_DIALECT_MARK))?.[0].length;
}

/** A superscript or subscript of Pandoc. */
interface ScriptMark extends DialectMark {
  readonly isRaised: boolean;
}

/**
 * Reads a superscript such as `^2^`, or a subscript such as `~2~`, at the beginning of `rest`. Returns undefined for other
 * text, such as `x^2+y^2`.
 * @param before the character before it
 */
export function readScript(rest: string, before: string): ScriptMark | undefined {
  const match = SCRIPT.exec(rest.slice(0, LONGEST_SCRIPT_MARK));
  if (match === null) return undefined;
  const [all, sign = '', content = ''] = match;
  const after = rest.charAt(all.length);
  const mark = { length: all.length, text: content.replaceAll('\\ ', ' ') };
  if (sign === '~')
    return /[\p{L}\p{N})\]]/u.test(before) ? { ...mark, isRaised: false } : undefined;
  const isNumber = /^[-−+]?\d{1,4}$/.test(content);
  const isSpaced = before === '' || /[\s^]/.test(before);
  // Between two words, only a number before a letter is certain, as in `m^2^s` and `^14^C`.
  const isCertain = WORD.test(after) ? isNumber && /\p{L}/u.test(after) : !isSpaced;
  return isCertain ? { ...mark, isRaised: true } : undefined;
}

/** Maximum length of a superscript or subscript with its marks, in UTF-16 units. */
export const LONGEST_SCRIPT_MARK = 40;

/** Reads the first line of an alert, such as `[!WARNING]` or `[!note]- Title`. Returns its title, and its length. */
export function readAlert(content: string): DialectMark | undefined {
  const match = ALERT.exec(content);
  if (match === null) return undefined;
  const [all, name = '', title = ''] = match;
  const word = name.toLowerCase().replaceAll('-', ' ');
  return { length: all.length, text: title.trim() || word.charAt(0).toUpperCase() + word.slice(1) };
}

/**
 * Removes the attributes of a heading (`# Title {#id}`), fences of containers (`:::`), `[TOC]`, and the comments,
 * imports and exports of MDX.
 */
export function withoutAttributes(content: string): string {
  if (MODULE_LINE.test(content)) return '';
  return content
    .replace(/[ \t]\{[#.][^{}\n]{0,200}\}[ \t]*$/, '')
    .replaceAll(/\{\/\*[^]{0,400}?\*\/\}/g, '')
    .replaceAll(/^:{3,}[^\n]*$|^\[TOC\]$/gm, '');
}

type ReadDialect = (rest: string, before: string) => DialectMark | undefined;

/** Adds the marks of dialects to a parser of Markdown. */
export function useDialects(parser: MarkdownIt): void {
  const add = (name: string, first: string, read: ReadDialect): void => {
    parser.inline.ruler.before('escape', name, (state, silent) => {
      if (!first.includes(state.src.charAt(state.pos))) return false;
      const mark = read(restOf(state), state.src.charAt(state.pos - 1));
      if (mark === undefined) return false;
      if (!silent) state.push('text', '', 0).content = mark.text;
      state.pos += mark.length;
      return true;
    });
  };
  add('formula', '$\\', readFormula);
  add('wiki_link', '![', readWikiLink);
  parser.inline.ruler.before('escape', 'script', (state, silent) => {
    if (!'^~'.includes(state.src.charAt(state.pos))) return false;
    const mark = readScript(restOf(state), state.src.charAt(state.pos - 1));
    if (mark === undefined) return false;
    if (!silent) {
      if (mark.isRaised) state.push('html_inline', '', 0).content = '<sup>';
      state.push('text', '', 0).content = mark.text;
      if (mark.isRaised) state.push('html_inline', '', 0).content = '</sup>';
    }
    state.pos += mark.length;
    return true;
  });
  parser.inline.ruler.before('escape', 'highlight', (state, silent) => {
    if (!state.src.startsWith('==', state.pos)) return false;
    const length = highlightLength(restOf(state), state.src.charAt(state.pos - 1));
    if (length === undefined) return false;
    const [end, max] = [state.pos + length, state.posMax];
    if (!silent) {
      state.pos += 2;
      state.posMax = end - 2;
      state.level += 1;
      parser.inline.tokenize(state);
      state.level -= 1;
      state.posMax = max;
    }
    state.pos = end;
    return true;
  });
}

function restOf({ pos, posMax, src }: StateInline): string {
  return src.slice(pos, Math.min(posMax, pos + LONGEST_DIALECT_MARK));
}

const WORD = /[\p{L}\p{N}]/u;
const WIKI_LINK = /^(!?)\[\[([^[\]\n|]{1,300})(?:\|([^[\]\n]{0,300}))?\]\]/;
const SCRIPT =
  /^([~^])((?=[^\p{L}\p{N}]{0,9}[\p{L}\p{N}]|[*†‡§])(?:\\ |[\p{L}\p{N}+\-−–=(),.*†‡§/])+)\1(?!\1)/u;
const HIGHLIGHT = /^==(?=[^\s=])(?:(?!==)[^\n])*[^\s=]==(?![=\p{L}\p{N}])/u;
// The first line of a paragraph that MDX reads as JavaScript.
const MODULE_LINE =
  /^(?:import\s(?:[\w$*{}, \t]{1,200}\sfrom\s)?["'][^"'\n]{1,200}["'];?[ \t]*(?:\n|$)|export\s(?:const|let|default|function)\s[^\n]*[={(;])/;
const ALERT = /^\[!([a-z][a-z-]{1,30})\][-+]?[ \t]*([^\n]*)(?:\n|$)/i;
