/**
 * SQLite. This file, which is loaded on demand, is the only one that imports the package statically: the build loads such
 * packages with `require`, which is faster than a dynamic import.
 */
export { default as Database } from 'libsql';
