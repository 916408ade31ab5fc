/** Returns the names that are true, such as `speed, volume`. */
export function switchedOn(switches: Readonly<Record<string, boolean>>): string {
  const names = Object.entries(switches).filter(([, on]) => on);
  return names.map(([name]) => name).join(', ');
}
