import type { Behaviour } from './behaviour.ts';
import RECORDS from './answer-fields.json' with { type: 'json' };
import { at, claimType, fieldType } from './claims.ts';
import type { ServiceUnderTest } from './service-under-test.ts';
import { NotApplicable } from './service-under-test.ts';

/** A record of `answer-fields.json`: its fields, and where the service returns them. */
interface AnsweredRecord {
  /** The name of its schema in the contract, if that is not the name of the record. */
  readonly of?: string;
  readonly section: string;
  readonly on: string;
  readonly spends?: boolean;
  /** The spec leaves its fields open, and these are ours. */
  readonly isOurChoice?: boolean;
  /** For each field its path from the record, its type, and what it means. */
  readonly fields: readonly (readonly string[])[];
}

const KNOWN = new Map<string, AnsweredRecord>(Object.entries(RECORDS));

/**
 * A row for each field of a record: it is there, and of its type.
 * @param sample returns a record as the service answers it
 */
export function answerFields(
  name: string,
  sample: (service: ServiceUnderTest) => Promise<unknown>,
): readonly Behaviour[] {
  const record = KNOWN.get(name);
  if (record === undefined) throw new Error(`answer-fields.json has no record "${name}"`);
  const { of = name, section, on, spends = false, isOurChoice = false, fields } = record;
  return fields.map(([path = '', typeName = '', meaning = '']) => {
    const type = fieldType(typeName);
    return {
      id: `${of}.${path}`,
      section,
      on,
      what: `\`${path}\` is ${article(type)} ${type}: ${meaning}${isOurChoice ? ' (ours)' : ''}`,
      covers: [`${of}.${path}`],
      spends,
      async check(service) {
        if (isOurChoice && !service.isOurs) throw new NotApplicable('the spec leaves it open');
        const value = await service.once(`the record ${name}`, () => sample(service));
        claimType(at(value, path), type, path);
      },
    };
  });
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? 'an' : 'a';
}
