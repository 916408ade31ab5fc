import type { Behaviour } from './behaviour.ts';
import type { FieldType } from './claims.ts';
import { at, claimType } from './claims.ts';
import type { ServiceUnderTest } from './service-under-test.ts';
import { NotApplicable } from './service-under-test.ts';

/** A field of an answer: its path from the record, its type, and what it means. */
export type AnswerField = readonly [path: string, type: FieldType, meaning: string];

export interface AnsweredRecord {
  /** The name of its schema in the contract, by which fields are covered. */
  readonly of: string;
  readonly section: string;
  readonly on: string;
  readonly spends?: boolean;
  /** The spec leaves its fields open, and these are ours. */
  readonly isOurChoice?: boolean;
  /** A record as the service answers it. */
  sample(service: ServiceUnderTest): Promise<unknown>;
}

/** A row for each field: it is there, and of its type. */
export function answerFields(
  { of, section, on, spends = false, isOurChoice = false, sample }: AnsweredRecord,
  fields: readonly AnswerField[],
): readonly Behaviour[] {
  return fields.map(([path, type, meaning]) => ({
    id: `${of}.${path}`,
    section,
    on,
    what: `\`${path}\` is ${article(type)} ${type}: ${meaning}${isOurChoice ? ' (ours)' : ''}`,
    covers: [`${of}.${path}`],
    spends,
    async check(service) {
      if (isOurChoice && !service.isOurs) throw new NotApplicable('the spec leaves it open');
      const record = await service.once(`${of} with ${fields[0]?.[0]}`, () => sample(service));
      claimType(at(record, path), type, path);
    },
  }));
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? 'an' : 'a';
}
