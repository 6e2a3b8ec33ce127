// The files that the Worker serves, for the tests in workerd.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ROOT } from "../../local/home/constants.ts";

/**
 * A process of its own builds them: Vitest transforms the modules of projects in workerd, also Vite's, and Vite copies
 * the source of one of its functions into the dashboard.
 */
export default async (): Promise<void> => {
  await promisify(execFile)(process.execPath, ["local/assets/assets.ts"], { cwd: ROOT });
};
