// A screen of a terminal, as tmux tells it with its colours, as an SVG that follows the reader's light or dark.
import stringWidth from 'string-width';

const CELL = { width: 8.4, height: 18 };
const MARGIN = 14;
const SGR = /\u001b\[([\d;]*)m/g;

/** What the emphases of src/cli/render/style.ts mean here. */
const NAMES = new Map([
  [1, 'bold'],
  [2, 'dim'],
  [31, 'red'],
  [32, 'green'],
  [33, 'yellow'],
]);
const ENDS = new Map([
  [22, ['bold', 'dim']],
  [39, ['red', 'green', 'yellow']],
]);

const STYLE = `
  .ground { fill: #ffffff; stroke: #d0d7de }
  text { font: 14px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2328; white-space: pre }
  .bold { font-weight: 700 } .dim { fill: #59636e }
  .red { fill: #cf222e } .green { fill: #1a7f37 } .yellow { fill: #9a6700 }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117; stroke: #3d444d }
    text { fill: #f0f6fc } .dim { fill: #9198a1 }
    .red { fill: #ff7b72 } .green { fill: #3fb950 } .yellow { fill: #d29922 }
  }`;

/**
 * @param {string} screen lines of text with escape sequences for colours
 * @param {{ columns: number, title: string }} options what it is said to show, for those who cannot see it
 */
export function terminalPicture(screen, { columns, title }) {
  const lines = screen.trimEnd().split('\n');
  const width = Math.ceil(columns * CELL.width + 2 * MARGIN);
  const height = lines.length * CELL.height + 2 * MARGIN;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escape(title)}</title><style>${STYLE}\n</style>`,
    `<rect class="ground" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>`,
    ...lines.flatMap((line, row) => pictureLine(line, row)),
    '</svg>\n',
  ].join('\n');
}

/** Each run stands where its first cell is, and is as wide as its cells, whatever font the reader has. */
function pictureLine(line, row) {
  let column = 0;
  return runsOf(line).flatMap(({ names, text }) => {
    const at = column;
    column += stringWidth(text);
    if (text.trim() === '') return [];
    const x = (MARGIN + at * CELL.width).toFixed(1);
    const y = MARGIN + row * CELL.height + 13;
    const length = (stringWidth(text) * CELL.width).toFixed(1);
    const look = names.length === 0 ? '' : ` class="${names.join(' ')}"`;
    return `<text x="${x}" y="${y}" textLength="${length}"${look}>${escape(text)}</text>`;
  });
}

/** Text that looks the same, in pieces that are cut where there is much white space. */
function runsOf(line) {
  const runs = [];
  let names = [];
  let from = 0;
  const push = (text) => {
    for (const piece of text.split(/( {2,})/)) if (piece !== '') runs.push({ names, text: piece });
  };
  for (const { index, 0: sequence, 1: numbers } of line.matchAll(SGR)) {
    push(line.slice(from, index));
    from = index + sequence.length;
    names = numbers.split(';').map(Number).reduce(styled, names);
  }
  push(line.slice(from));
  return runs;
}

function styled(names, number) {
  if (number === 0) return [];
  const name = NAMES.get(number);
  if (name !== undefined) return [...new Set([...names, name])];
  return names.filter((one) => !(ENDS.get(number) ?? []).includes(one));
}

function escape(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
