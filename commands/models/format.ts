/** Joins the names of the enabled switches with commas (for example, `speed, volume`). */
export function enabledNames(switches: Readonly<Record<string, boolean>>): string {
  const names = Object.entries(switches).filter(([, on]) => on);
  return names.map(([name]) => name).join(', ');
}
