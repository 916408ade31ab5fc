// Before the tests of the neural engines: installs the packages of engines/parts, which are large, so that nobody who
// only builds or speaks has to download them.
import path from 'node:path';
import { root, setUpPackages } from './set-up.mjs';

export function setup() {
  setUpPackages(path.join(root, 'engines/parts'));
}
