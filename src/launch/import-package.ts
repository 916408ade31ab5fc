/**
 * Imports a package that is not bundled. The build inserts calls of this function. The compiled code of this file is
 * not cached, because cached code cannot use `import`.
 */
export function importPackage(name: string): Promise<unknown> {
  return import(name);
}
