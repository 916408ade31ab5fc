/** Lets what an iterator holds be freed; there is nobody left to tell if it fails at that. */
export async function closeQuietly(iterator: AsyncIterator<unknown>): Promise<void> {
  try {
    await iterator.return?.();
  } catch {
    // What it was for is over.
  }
}
