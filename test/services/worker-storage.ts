// A real S3 server for tests in workerd, which cannot start servers.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestProject } from "vitest/node";
import { ROOT } from "../../local/home/constants.ts";
import { loadSecrets } from "../../local/home/secrets.ts";

declare module "vitest" {
  interface ProvidedContext {
    s3: { endpoint: string; accessKeyId: string; secretAccessKey: string };
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const home = mkdtempSync(join(tmpdir(), "copra-worker-s3-"));
  const { s3 } = loadSecrets(home);
  // A separate process, as in the local system.
  const server = spawn(process.execPath, [join(ROOT, "local/s3/s3-server.ts")], {
    env: { ...process.env, COPRA_HOME: home, COPRA_S3_PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface(server.stdout), "line")) as [string];
  const { port } = JSON.parse(line) as { port: number };
  project.provide("s3", { endpoint: `http://127.0.0.1:${port}`, ...s3 });
  return async () => {
    server.kill();
    await once(server, "exit");
    rmSync(home, { recursive: true, force: true });
  };
}
