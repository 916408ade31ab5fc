import type Libsql from 'libsql';

/** What may be bound and read. The binding aborts the process on a boolean, so none is let in. */
export type SqlValue = string | number | null;
export type Row = Readonly<Record<string, unknown>>;

/** One SQLite connection with prepared statements kept. Synchronous. */
export interface Connection {
  /** Every row of a query. */
  all(sql: string, parameters?: readonly SqlValue[]): readonly Row[];
  /** The first row of a query. */
  get(sql: string, parameters?: readonly SqlValue[]): Row | undefined;
  /** Runs a statement; gives the number of rows that it changed. */
  run(sql: string, parameters?: readonly SqlValue[]): number;
  /** Runs statements without parameters, separated by semicolons. */
  script(sql: string): void;
}

/** Wraps an open database. Each statement is prepared once. */
export function createConnection(database: Libsql.Database): Connection {
  const prepared = new Map<string, Libsql.Statement>();
  const statement = (sql: string): Libsql.Statement => {
    const known = prepared.get(sql);
    if (known !== undefined) return known;
    const made = database.prepare(sql);
    prepared.set(sql, made);
    return made;
  };
  return {
    all: (sql, parameters = []) => statement(sql).all(parameters).filter(isRow),
    get(sql, parameters = []) {
      const row = statement(sql).get(parameters);
      return isRow(row) ? row : undefined;
    },
    run: (sql, parameters = []) => statement(sql).run(parameters).changes,
    script: (sql) => void database.exec(sql),
  };
}

/** A text column of a row. @throws TypeError when it holds anything else */
export function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw new TypeError(`column ${column} is not text`);
  return value;
}

/** A text column of a row that may be NULL. @throws TypeError when it holds anything else */
export function optionalText(row: Row, column: string): string | undefined {
  return row[column] === null ? undefined : text(row, column);
}

/** An integer column of a row. @throws TypeError when it holds anything else */
export function integer(row: Row, column: string): number {
  const value = row[column];
  if (!Number.isSafeInteger(value)) throw new TypeError(`column ${column} is not an integer`);
  return Number(value);
}

/** An integer column of a row that may be NULL. @throws TypeError when it holds anything else */
export function optionalInteger(row: Row, column: string): number | undefined {
  return row[column] === null ? undefined : integer(row, column);
}

/** A number column of a row. @throws TypeError when it holds anything else */
export function number(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== 'number') throw new TypeError(`column ${column} is not a number`);
  return value;
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null;
}
