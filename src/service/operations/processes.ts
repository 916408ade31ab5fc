export type { Liveness, ProcessIdentity, Processes } from '../../effects/processes.ts';
export { systemProcesses } from '../../effects/processes.ts';
