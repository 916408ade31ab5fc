// Lists every message of an error that the sources hold, for docs/messages.md: read in one sitting, each
// of them has to say what failed, what is allowed and what to do.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { root } from './set-up.mjs';

/** Calls and classes that make an error from a message. */
const MAKES_ERROR = /(Failure|Error|Fault|[rR]efus\w*|invalid[A-Z]\w*)$/;
/** Functions of src/api/failures.ts that explain a transport error: a message, and often a hint. */
const EXPLAINS = new Set(['network', 'timeout', 'unusable', 'endedEarly']);
/** Errors in the code itself, which nobody meets. */
const INTERNAL = new Set(['TypeError', 'RangeError', 'onError', 'onFailure']);
const INTRODUCTION = `# Messages

This page lists the error messages of foley by source folder. The command line prints the hint of a message below it.
\`{name}\` stands for a value. If foley builds a message from parts, this page lists each part.
[reference.md](reference.md#exit-codes) has the exit codes, and [api/errors.md](api/errors.md) has the codes of the service.

This page is generated from the sources: \`npm run generate\`.
`;

/** @returns {string} the page */
export function messagesPage() {
  const sections = new Map();
  for (const file of sourceFiles()) {
    const rows = messagesIn(file);
    if (rows.length === 0) continue;
    const folder = path.dirname(file);
    sections.set(folder, [...(sections.get(folder) ?? []), ...rows]);
  }
  const parts = [...sections].map(([folder, rows]) => {
    const lines = rows.map(({ hint, message }) =>
      hint === ''
        ? `foley: ${oneLine(message)}`
        : `foley: ${oneLine(message)}\n  hint: ${oneLine(hint)}`,
    );
    return `## ${folder}\n\n\`\`\`text\n${[...new Set(lines)].join('\n')}\n\`\`\`\n`;
  });
  return [INTRODUCTION, ...parts].join('\n');
}

function sourceFiles() {
  return ['commands', 'src'].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.includes('generated'))
      .map((name) => path.posix.join(folder, name.replaceAll(path.sep, '/')))
      .toSorted(),
  );
}

function messagesIn(file) {
  const rows = [];
  const isTable = file === 'src/api/failures.ts';
  visit(parseAst(readFileSync(path.join(root, file), 'utf8'), { lang: 'ts' }), (node) => {
    if (isTable && node.type === 'ObjectExpression') {
      const [[message], [hint]] = [propertyOf(node, 'what'), propertyOf(node, 'hint')];
      if (message !== undefined && hint !== undefined) rows.push({ message, hint });
    }
    if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return;
    const name = node.callee.name ?? node.callee.property?.name ?? '';
    const isExplanation =
      isTable && EXPLAINS.has(name) && sentencesOf(node.arguments[0]).length > 0;
    if (!isExplanation && (!MAKES_ERROR.test(name) || INTERNAL.has(name))) return;
    const [message, second] = node.arguments.flatMap((given) => sentencesOf(given));
    if (message === undefined) return;
    const hint = node.arguments.flatMap((given) => propertyOf(given, 'hint')).at(0) ?? second ?? '';
    rows.push({ message, hint });
  });
  return rows;
}

/** The sentences that an argument may be; a code of one word is none. */
function sentencesOf(node) {
  if (node.type === 'ConditionalExpression') {
    return [...sentencesOf(node.consequent), ...sentencesOf(node.alternate)].slice(0, 1);
  }
  const text = textOf(node);
  return text !== undefined && text.includes(' ') ? [text] : [];
}

/** The sentences of a property in an object literal. */
function propertyOf(node, name) {
  if (node.type !== 'ObjectExpression') return [];
  return node.properties
    .filter(({ key }) => key?.name === name)
    .flatMap(({ value }) => sentencesOf(value));
}

/** The text of a literal, with the names of the values that are put into it; undefined for anything else. */
function textOf(node) {
  switch (node.type) {
    case 'Literal':
      return typeof node.value === 'string' ? node.value : undefined;
    case 'TemplateLiteral':
      return node.quasis
        .map(({ value }, index) => value.cooked + placeholder(node.expressions[index]))
        .join('');
    case 'BinaryExpression': {
      const [left, right] = [textOf(node.left), textOf(node.right)];
      return left === undefined && right === undefined
        ? undefined
        : (left ?? placeholder(node.left)) + (right ?? placeholder(node.right));
    }
    default:
      return undefined;
  }
}

function placeholder(node) {
  if (node === undefined) return '';
  switch (node.type) {
    case 'Identifier':
      return `{${node.name}}`;
    case 'MemberExpression':
      return placeholder(node.property);
    case 'CallExpression': {
      const isListed = node.callee.property?.name === 'join';
      return placeholder(isListed ? node.callee.object : (node.arguments[0] ?? node.callee));
    }
    case 'ConditionalExpression':
      return '{…}';
    default:
      return textOf(node) ?? '{…}';
  }
}

function visit(node, look) {
  if (Array.isArray(node)) {
    for (const item of node) visit(item, look);
  } else if (typeof node === 'object' && node !== null) {
    look(node);
    for (const value of Object.values(node)) visit(value, look);
  }
}

const oneLine = (text) => text.replaceAll('\n', ' ');
