import fc from 'fast-check';

/** What is tried where a field takes anything, or where something wrong is wanted. */
export const junk: fc.Arbitrary<unknown> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.integer(),
  fc.double({ noDefaultInfinity: true, noNaN: true }),
  fc.constantFrom<unknown>(null, true, false, '', 0, -0, [], {}, '\ud800', '\u0000', 1e300, '1'),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Values for fields by name, where what the schema says of them is not enough to be right. */
export type Hints = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/**
 * Values that a JSON schema allows, the ends of its ranges often among them. Knows what the schemas of
 * the contract are made of; throws for anything else.
 */
export function allowedBy(schema: unknown, hints: Hints = {}): fc.Arbitrary<unknown> {
  const { anyOf, enum: words, type, properties, items } = Object(schema);
  if (anyOf !== undefined) return fc.oneof(...anyOf.map((one: unknown) => allowedBy(one, hints)));
  if (words !== undefined) return fc.constantFrom<unknown>(...words);
  if (properties !== undefined) return recordOf(schema, hints);
  if (type === 'null') return fc.constant(null);
  if (type === 'boolean') return fc.boolean();
  if (type === 'integer' || type === 'number') return numberIn(Object(schema));
  if (type === 'string') return stringOf(Object(schema));
  if (type === 'array') return fc.array(allowedBy(items, hints), { maxLength: 3 });
  if (type === undefined || type === 'object') return junk;
  throw new TypeError(`no values for ${JSON.stringify(schema)}`);
}

/** A body that is right but for a few fields: one that is wrong, missing, or unknown. */
export function nearlyAllowedBy(schema: unknown, hints: Hints = {}): fc.Arbitrary<unknown> {
  const names = Object.keys(Object(schema).properties ?? {});
  const name = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...names) },
    fc.constantFrom('__proto__', 'constructor', 'toString', 'token', 'unknown', ''),
    fc.string(),
  );
  const changes = fc.array(fc.tuple(name, fc.option(wrongValue(schema, hints))), {
    minLength: 1,
    maxLength: 3,
  });
  return fc.tuple(allowedBy(schema, hints), changes).map(([body, all]) => {
    const changed = Object.entries(Object(body)).filter(([key]) =>
      all.every(([other]) => other !== key),
    );
    const added = all.filter(([, value]) => value !== null);
    // `fromEntries` defines what it is given, a name like `__proto__` too.
    return Object.fromEntries([...changed, ...added]);
  });
}

/** Junk, or what belongs to another field. */
function wrongValue(schema: unknown, hints: Hints): fc.Arbitrary<unknown> {
  const { properties = {} } = Object(schema);
  const others = Object.values(properties).map((one) => allowedBy(one, hints));
  const near = Object.values(properties).flatMap((one) => {
    const { minimum, maximum, maxLength } = Object(one);
    return [
      ...(minimum === undefined ? [] : [minimum - 0.01]),
      ...(maximum === undefined ? [] : [maximum + 0.01]),
      ...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)]),
    ];
  });
  return fc.oneof(junk, ...others, ...(near.length === 0 ? [] : [fc.constantFrom(...near)]));
}

function recordOf(schema: unknown, hints: Hints): fc.Arbitrary<unknown> {
  const { properties, required = [] } = Object(schema);
  const fields = Object.entries(properties).map(
    ([name, part]) => [name, hints[name] ?? allowedBy(part, hints)] as const,
  );
  return fc.record(Object.fromEntries(fields), { requiredKeys: required });
}

interface NumberSchema {
  readonly type: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

function numberIn({ type, minimum = -1e6, maximum = 1e6 }: NumberSchema): fc.Arbitrary<number> {
  const ends = fc.constantFrom(minimum, maximum);
  if (type === 'integer') return fc.oneof(ends, fc.integer({ min: minimum, max: maximum }));
  // Whole hundredths: most random doubles are next to zero.
  const hundredths = { min: Math.ceil(minimum * 100), max: Math.floor(maximum * 100) };
  return fc.oneof(
    ends,
    fc.integer(hundredths).map((value) => value / 100),
  );
}

interface StringSchema {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: string;
}

function stringOf({ minLength = 0, maxLength, format }: StringSchema): fc.Arbitrary<string> {
  // No server listens there, so nothing is fetched.
  if (format === 'uri') return fc.webPath().map((path) => `http://127.0.0.1:1${path}`);
  if (format === 'date-time')
    return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
  const short = fc.string({ minLength, maxLength: Math.min(maxLength ?? 20, 20) });
  return maxLength === undefined ? short : fc.oneof(short, fc.constant('x'.repeat(maxLength)));
}
