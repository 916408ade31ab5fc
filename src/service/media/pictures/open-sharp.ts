import type { SharpConstructor } from 'sharp';

/**
 * sharp, for one picture at a time in a process that ends soon: one thread, and nothing kept. More
 * threads take twice the memory for a 4k picture and save no time.
 */
export async function openSharp(): Promise<SharpConstructor> {
  const { default: sharp } = await import('sharp');
  sharp.concurrency(1);
  sharp.cache(false);
  return sharp;
}
