import type { TextOrigin } from '../text/formats/text-origins.ts';
import type { ElementTree, TreeElement } from './element-tree.ts';
import { isInline } from './element-tree.ts';

/** A range of the text of a document, in UTF-16 units, that is highlighted while it is spoken. */
export interface Unit {
  readonly start: number;
  readonly end: number;
}

/** An element of the marked document that contains a unit, or a part of it where no element can contain all of it. */
export interface MarkedPart {
  readonly id: string;
  /** Position in the text of the document at which the part begins. */
  readonly textStart: number;
}

/** Text that is inserted into a document. */
export interface Insertion {
  readonly at: number;
  readonly text: string;
}

/** The marks of a document: what to insert into it, and the elements to highlight, in reading order. */
export interface MarkInsertions {
  readonly insertions: readonly Insertion[];
  readonly parts: readonly MarkedPart[];
}

/**
 * Gives each unit of a document an element with an id. An element that contains exactly one unit gets an id, or keeps
 * its own. Otherwise, the unit is put into a `span`, or into several where it begins or ends inside of an element.
 * @param origins the places of the text in the document
 * @param units ranges of the text, in order and without overlap
 */
export function markUnits(
  tree: ElementTree,
  origins: readonly TextOrigin[],
  units: readonly Unit[],
): MarkInsertions {
  const atoms = atomsOf(tree, origins, units);
  const counted = countAtoms(tree, atoms);
  const newId = idsFor(tree);
  const insertions: Insertion[] = [];
  const parts: MarkedPart[] = [];
  for (let first = 0; first < atoms.length;) {
    const unit = atoms[first]?.unit;
    let end = first;
    while (end < atoms.length && atoms[end]?.unit === unit) end += 1;
    const fragments = fragmentsOf({ atoms, ...counted }, first, end);
    for (const [index, fragment] of fragments.entries()) {
      const { atom, element } = fragment;
      const id = element?.id ?? newId();
      // The number of a list item comes before its first word, and has no place in the document.
      const start = index === 0 ? units[atom.unit]?.start : undefined;
      parts.push({ id, textStart: start ?? atom.textStart });
      insertions.push(...insertionsFor(fragment, id));
    }
    first = end;
  }
  return { insertions: insertions.toSorted((a, b) => a.at - b.at), parts };
}

/** Applies insertions, which are in order, to a document. */
export function insert(document: string, insertions: readonly Insertion[]): string {
  const pieces: string[] = [];
  let done = 0;
  for (const { at, text } of insertions) {
    pieces.push(document.slice(done, at), text);
    done = at;
  }
  return [...pieces, document.slice(done)].join('');
}

// A part of the document that is not split: characters of one unit, or an element such as an image.
interface Atom {
  readonly unit: number;
  readonly textStart: number;
  readonly start: number;
  readonly end: number;
  readonly parent: TreeElement;
}

function atomsOf(
  { root }: ElementTree,
  origins: readonly TextOrigin[],
  units: readonly Unit[],
): readonly Atom[] {
  const atoms: Atom[] = [];
  let first = 0;
  let parent = root;
  for (const { end, start, textEnd, textStart } of origins) {
    while ((units[first]?.end ?? Infinity) <= textStart) first += 1;
    const isSame = end - start === textEnd - textStart;
    for (let unit = first; (units[unit]?.start ?? Infinity) < textEnd; unit += 1) {
      const { end: unitEnd = 0, start: unitStart = 0 } = units[unit] ?? {};
      const from = Math.max(unitStart, textStart);
      const to = Math.min(unitEnd, textEnd);
      const source = isSame
        ? { start: start + from - textStart, end: start + to - textStart }
        : { start, end };
      const last = atoms.at(-1);
      // An entity or an image belongs to one unit only.
      if (last !== undefined && source.start < last.end) continue;
      parent = parentAt(parent, source.start);
      const own = childAt(parent, source.start);
      const place = own?.start === source.start ? own : source;
      atoms.push({ unit, textStart: from, start: place.start, end: place.end, parent });
    }
  }
  return atoms;
}

// The innermost element around a position, found from an element before it. A tag is outside of its element.
function parentAt(before: TreeElement, at: number): TreeElement {
  let element = before;
  while (element.parent !== undefined && at >= element.end) element = element.parent;
  for (;;) {
    const child = childAt(element, at);
    if (child === undefined || child.start === at) return element;
    element = child;
  }
}

function childAt({ children }: TreeElement, at: number): TreeElement | undefined {
  let [low, high] = [0, children.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((children[middle]?.start ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  const child = children[low - 1];
  return child !== undefined && at < child.end ? child : undefined;
}

interface CountedAtoms {
  // For each element that contains atoms, the indexes of its first atom and of the first atom after it.
  readonly ranges: ReadonlyMap<TreeElement, { readonly first: number; end: number }>;
  // Starts of the elements that are not inline, in order.
  readonly blocks: readonly number[];
}

function countAtoms({ root }: ElementTree, atoms: readonly Atom[]): CountedAtoms {
  const ranges = new Map<TreeElement, { first: number; end: number }>();
  for (const [index, { parent }] of atoms.entries()) {
    let element: TreeElement | undefined = parent;
    for (; element !== undefined; element = element.parent) {
      const range = ranges.get(element);
      if (range === undefined) ranges.set(element, { first: index, end: index + 1 });
      else range.end = index + 1;
    }
  }
  const blocks: number[] = [];
  const visit = (element: TreeElement): void => {
    // The elements of formulas and drawings are none of HTML.
    if (element.name === 'math' || element.name === 'svg') return;
    if (!isInline(element)) blocks.push(element.start);
    for (const child of element.children) visit(child);
  };
  for (const child of root.children) visit(child);
  return { ranges, blocks };
}

// A part of one unit that one element can contain.
interface Fragment {
  readonly atom: Atom;
  readonly prefix: string;
  readonly start: number;
  end: number;
  // The element that is exactly this part.
  element: TreeElement | undefined;
}

interface MarkedDocument extends CountedAtoms {
  readonly atoms: readonly Atom[];
}

// Returns the parts of the unit whose atoms have the indexes from `first` to `end`.
function fragmentsOf(document: MarkedDocument, first: number, end: number): readonly Fragment[] {
  const atom = document.atoms[first];
  if (atom === undefined) return [];
  const { ranges } = document;
  let around: TreeElement | undefined = atom.parent;
  while (around?.parent !== undefined && (ranges.get(around)?.end ?? 0) < end) {
    around = around.parent;
  }
  const isWhole = (element: TreeElement | undefined): boolean => {
    const range = element === undefined ? undefined : ranges.get(element);
    return range !== undefined && range.first >= first && range.end <= end && isMarkable(element);
  };
  if (around === undefined) return [];
  if (!isWhole(around)) return fragmentsIn(around, document, first, end);
  while (isInline(around) && around.parent !== undefined && isWhole(around.parent)) {
    around = around.parent;
  }
  const { prefix, start } = around;
  return [{ atom, prefix, start, end: around.end, element: around }];
}

function isMarkable(element: TreeElement | undefined): boolean {
  return element?.parent !== undefined && element.name !== 'html' && element.name !== 'body';
}

function fragmentsIn(
  around: TreeElement,
  document: MarkedDocument,
  first: number,
  end: number,
): readonly Fragment[] {
  const { atoms, blocks, ranges } = document;
  const fragments: Fragment[] = [];
  let current: Fragment | undefined;
  for (let index = first; index < end;) {
    const atom = atoms[index];
    if (atom === undefined) break;
    const child = childAround(atom, around);
    const { end: childEnd = 0, first: childFirst = 0 } =
      (child === undefined ? undefined : ranges.get(child)) ?? {};
    if (child !== undefined && (childFirst < first || childEnd > end)) {
      fragments.push(...fragmentsIn(child, document, index, Math.min(end, childEnd)));
      current = undefined;
      index = childEnd;
      continue;
    }
    const place = child ?? atom;
    if (current !== undefined && !hasBetween(blocks, current.start, place.end)) {
      current.end = place.end;
      current.element = undefined;
    } else {
      const element = child ?? elementOf(atom);
      const isBlock = child !== undefined && !isInline(child);
      const { end: placeEnd, start } = place;
      current = { atom, prefix: around.prefix, start, end: placeEnd, element };
      fragments.push(current);
      if (isBlock) current = undefined;
    }
    index = child === undefined ? index + 1 : childEnd;
  }
  return fragments;
}

function childAround({ parent }: Atom, around: TreeElement): TreeElement | undefined {
  let child: TreeElement | undefined;
  let element: TreeElement | undefined = parent;
  for (; element !== undefined && element !== around; element = element.parent) child = element;
  return child;
}

// An image or a formula is an element itself.
function elementOf({ end, parent, start }: Atom): TreeElement | undefined {
  const element = childAt(parent, start);
  return element?.start === start && element.end === end ? element : undefined;
}

function hasBetween(starts: readonly number[], from: number, to: number): boolean {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  return (starts[low] ?? Infinity) < to;
}

function insertionsFor(
  { element, end, prefix, start }: Fragment,
  id: string,
): readonly Insertion[] {
  if (element?.id !== undefined) return [];
  if (element !== undefined) {
    const at = element.start + 1 + element.prefix.length + element.name.length;
    return [{ at, text: ` id="${id}"` }];
  }
  return [
    { at: start, text: `<${prefix}span id="${id}">` },
    { at: end, text: `</${prefix}span>` },
  ];
}

// Returns a function that returns ids which the document does not have.
function idsFor({ ids }: ElementTree): () => string {
  let prefix = 'foley';
  while ([...ids].some((id) => id.startsWith(`${prefix}-`))) prefix += 'x';
  let count = 0;
  return () => `${prefix}-${(count += 1)}`;
}
