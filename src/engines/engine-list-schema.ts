// A dynamic import of the package itself would bundle all of it, although only these functions are used.
export { Check, Errors } from 'typebox/schema';
export { EngineList } from '../contract/engine.ts';
