/**
 * Imports a package that is not part of the bundle. The build inserts calls of this function. Code from the code cache
 * cannot use `import()`, so this file is never cached.
 */
export function importPackage(name: string): Promise<unknown> {
  return import(name);
}
