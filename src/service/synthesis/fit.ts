import type { AudioFormat } from '../../contract/audio-formats.ts';
import type { ControlRange } from '../../contract/families.ts';
import { countCodePoints } from '../../text/code-points.ts';
import { familyOf } from '../catalogue/catalogue.ts';
import type { CatalogueModel } from '../catalogue/models.ts';
import type { FieldProblem } from '../service-error.ts';
import { invalidRequest } from '../service-error.ts';
import { anyOf, describeRange } from '../wording/describe-allowed.ts';
import type { NameOf, SpeechOrder } from './plan.ts';

type FittingOrder = SpeechOrder & { readonly format: AudioFormat };

/**
 * Checks what depends on the model: length, format, and the ranges of its family.
 * @throws ServiceError 400 that names every field that does not fit
 */
export function requireFit(order: FittingOrder, model: CatalogueModel, nameOf: NameOf): void {
  const problems = [
    ...checkText(order.text, model, nameOf('text')),
    ...checkFormat(order.format, model, nameOf('format')),
    ...checkRanges(order, model, nameOf),
  ];
  const [first, ...others] = problems;
  if (first !== undefined) throw invalidRequest([first, ...others]);
}

const LONE_SURROGATE = /\p{Surrogate}/u;

function checkText(
  text: string,
  { id, maxTextLength }: CatalogueModel,
  field: string,
): readonly FieldProblem[] {
  if (LONE_SURROGATE.test(text)) {
    return [{ field, message: `${field} holds half of a surrogate pair, which is no character` }];
  }
  const length = countCodePoints(text);
  if (length <= maxTextLength) return [];
  return [
    { field, message: `${field} has ${length} characters; ${id} takes at most ${maxTextLength}` },
  ];
}

function checkFormat(
  format: AudioFormat,
  model: CatalogueModel,
  field: string,
): readonly FieldProblem[] {
  if (makes(model, format)) return [];
  const message = `${field} is ${format}; ${model.id} makes ${anyOf(model.outputFormats)}`;
  return [{ field, message }];
}

/** Whether a model makes a format; raw samples are what every model makes first. */
export function makes({ outputFormats }: CatalogueModel, format: AudioFormat): boolean {
  return format === 'pcm' || outputFormats.includes(format);
}

/** The ranges of a family hold only for the controls that the model applies. */
function checkRanges(
  order: SpeechOrder,
  model: CatalogueModel,
  nameOf: NameOf,
): readonly FieldProblem[] {
  const { ranges } = familyOf(model);
  return RANGED.flatMap((name) => {
    const value = order[name];
    const range: ControlRange = ranges[name];
    if (value === undefined || !model.controls[name] || isWithin(value, range)) return [];
    const allowed = describeRange(range);
    const field = nameOf(name);
    return [{ field, message: `${field} is ${value}; ${model.id} allows ${allowed}` }];
  });
}

const RANGED = ['speed', 'volume', 'stability', 'similarity'] as const;

/** Whether a value lies in a range, its ends included. */
export function isWithin(
  value: number,
  { minimum, maximum }: Pick<ControlRange, 'minimum' | 'maximum'>,
): boolean {
  return value >= minimum && value <= maximum;
}
