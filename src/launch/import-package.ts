/**
 * Imports a package that is not bundled. The build inserts calls of this function and does not cache its compiled
 * code, because cached code cannot use `import`.
 */
export function importPackage(name: string): Promise<unknown> {
  return import(name);
}
