// Before the tests in test/validators: the public tools that they run are a package of their own,
// so that nobody who only builds or speaks has to download them.
import path from 'node:path';
import { root, setUpPackages } from './set-up.mjs';

export function setup() {
  setUpPackages(path.join(root, 'test/validators'));
}
