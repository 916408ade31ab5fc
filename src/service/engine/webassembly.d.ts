/** The part of WebAssembly that the engine and the encoders use; Node's types leave it out. */
declare namespace WebAssembly {
  class Module {
    static exports(module: Module): { readonly name: string }[];
    constructor(bytes: Uint8Array);
  }
  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, ImportedFunction>>);
    readonly exports: Readonly<Record<string, unknown>>;
  }
  class Memory {
    readonly buffer: ArrayBuffer;
  }
  type ImportedFunction = (...args: never[]) => number | void;
}
