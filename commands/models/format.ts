/** Lists the names whose value is true, separated by commas: `speed, volume`. */
export function enabledNames(switches: Readonly<Record<string, boolean>>): string {
  const names = Object.entries(switches).filter(([, on]) => on);
  return names.map(([name]) => name).join(', ');
}
