/**
 * Imports a package that lies outside of the build, an ES module perhaps. It is a file of its own, which
 * Node loads: a script that is loaded from compiled code may not import (the build puts this in).
 */
export function importPackage(name: string): Promise<unknown> {
  return import(name);
}
