/**
 * SQLite, loaded on demand: this file is the only one that imports the package statically, because
 * the build requires such packages, which is faster than a dynamic import.
 */
export { default as Database } from 'libsql';
