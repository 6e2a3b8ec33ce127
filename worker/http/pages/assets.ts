// The files of the dashboard's build.
import { AppError } from "#shared/errors.ts";
import type { Env } from "../../bindings.ts";

/** No folders and no hidden files. */
const FILE = /^(\/assets)?\/[\w-]+\.\w+$/;

/** A file of the build, without the headers of its storage. Throws AppError(route_not_found). */
export async function dashboardFile({ ASSETS }: Env, path: string): Promise<ReadableStream> {
  const response = FILE.test(path) ? await ASSETS?.fetch(new Request(`https://assets.local${path}`)) : undefined;
  if (response?.ok && response.body) return response.body;
  await response?.body?.cancel();
  throw new AppError("route_not_found", `There is no file ${path}: this version of the dashboard does not have it`);
}
