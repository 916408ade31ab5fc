/** Every fault that the server can make, by name. */
export * from './faults/cut.ts';
export * from './faults/hostile.ts';
export * from './faults/redirect.ts';
export * from './faults/slow.ts';
export * from './faults/status.ts';
export * from './faults/wrong-answer.ts';
