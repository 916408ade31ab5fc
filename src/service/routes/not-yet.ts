import { ServiceError } from '../service-error.ts';

/** What is described and not built yet: 501. */
export function notYet(): never {
  throw new ServiceError('ERR_NOT_IMPLEMENTED', 'This service does not do this yet');
}
