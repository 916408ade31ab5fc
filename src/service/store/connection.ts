import type Libsql from 'libsql';

/** An SQL value. There are no booleans, because the SQLite binding aborts the process when it gets one. */
export type SqlValue = string | number | null;
export type Row = Readonly<Record<string, unknown>>;

export type Connection = ReturnType<typeof createConnection>;

/** Wraps a database as a synchronous connection. Prepares each SQL statement only once. */
export function createConnection(database: Libsql.Database) {
  const prepared = new Map<string, Libsql.Statement>();
  const statement = (sql: string): Libsql.Statement => {
    const known = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, known);
    return known;
  };
  return {
    all: (sql: string, parameters: readonly SqlValue[] = []): readonly Row[] =>
      statement(sql).all(parameters).filter(isRow),
    /** Returns the first row of a query. */
    get(sql: string, parameters: readonly SqlValue[] = []): Row | undefined {
      const row = statement(sql).get(parameters);
      return isRow(row) ? row : undefined;
    },
    /** Runs a statement; returns the number of changed rows. */
    run: (sql: string, parameters: readonly SqlValue[] = []): number =>
      statement(sql).run(parameters).changes,
    /** Inserts a row. @param row values by column name; `undefined` is stored as NULL */
    insert(table: string, row: Readonly<Record<string, SqlValue | undefined>>): void {
      const columns = Object.keys(row);
      const marks = columns.map(() => '?').join(', ');
      const values = Object.values(row).map((value) => value ?? null);
      statement(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${marks})`).run(values);
    },
    /** Runs several statements without parameters. */
    script: (sql: string): void => void database.exec(sql),
  };
}

/** Returns a text column of a row. @throws TypeError for any other type */
export function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw new TypeError(`column ${column} is not text`);
  return value;
}

/** Returns a text column that may be NULL. @throws TypeError for any other type */
export function optionalText(row: Row, column: string): string | undefined {
  return row[column] === null ? undefined : text(row, column);
}

/** Returns an integer column of a row. @throws TypeError for any other type */
export function integer(row: Row, column: string): number {
  const value = row[column];
  if (!Number.isSafeInteger(value)) throw new TypeError(`column ${column} is not an integer`);
  return Number(value);
}

/** Returns an integer column that may be NULL. @throws TypeError for any other type */
export function optionalInteger(row: Row, column: string): number | undefined {
  return row[column] === null ? undefined : integer(row, column);
}

/** Returns a number column of a row. @throws TypeError for any other type */
export function number(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== 'number') throw new TypeError(`column ${column} is not a number`);
  return value;
}

/** Returns a text column whose value is in a list. @throws TypeError for any other value */
export function oneOf<Value extends string>(
  values: readonly Value[],
  row: Row,
  column: string,
): Value {
  const found = values.find((value) => value === row[column]);
  if (found === undefined) throw new TypeError(`column ${column} is ${text(row, column)}`);
  return found;
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null;
}
