/**
 * Whether the tests of this process run against the sparse service: the services of the tests then answer with nothing
 * but the fields that the API names. The project `sparse` of vitest.config.mts sets the variable.
 */
export const IS_SPARSE = process.env['FOLEY_TEST_SERVICE'] === 'sparse';
