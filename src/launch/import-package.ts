/**
 * Imports a package outside the build. Node loads this file itself, because compiled chunks cannot use `import`
 * (the build inserts the call).
 */
export function importPackage(name: string): Promise<unknown> {
  return import(name);
}
