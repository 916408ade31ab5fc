// Only this file imports the package statically. The build therefore loads it with `require`, which is faster than a
// dynamic import.
export { default as Database } from 'libsql';
