/**
 * SQLite, in a file of its own that is loaded when it is needed: a package that is imported statically
 * is required by the build, and Node's loader for ES modules would take some milliseconds to begin.
 */
export { default as Database } from 'libsql';
