/**
 * SQLite, loaded on demand. Only this file imports the package statically: the build then loads it with `require`,
 * which is faster than a dynamic import.
 */
export { default as Database } from 'libsql';
