import type { ServiceHost } from '../target/start-service.ts';
import type { Context } from './context.ts';

/** What the embedded service of a command may use. */
export async function serviceHost(context: Context): Promise<ServiceHost> {
  const { env, files } = context;
  return { env, files, paths: await context.paths() };
}
