import { chmod, copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { silentLog } from "../testing/silent-log.ts";
import { checkIsolation } from "./check-isolation.ts";
import { locateFfmpeg } from "./discover/locate.ts";
import { findIsolation } from "./sandbox/isolation.ts";

const { ffprobe } = await locateFfmpeg(process.env);
const { sandbox } = await findIsolation();

// Only the sandbox of root runs tools as another user.
it.skipIf(sandbox?.privilege !== "root")("names the chmod for a tool that other users may not execute", async () => {
  const folder = await mkdtemp(join(tmpdir(), "copra-tool-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "ffprobe");
  await copyFile(ffprobe.path, path);
  await chmod(folder, 0o755);
  await chmod(path, 0o744);
  const check = { choice: "best-effort", rootFolder: join(folder, "root"), tools: [{ ...ffprobe, path }] } as const;
  await expect(checkIsolation({ ...check, log: silentLog })).rejects.toMatchObject({
    message: expect.stringMatching(
      /Permission denied\)\. The sandbox runs it as another user: chmod o\+rx \/.*ffprobe\.$/,
    ),
  });
  await chmod(path, 0o755);
  await expect(checkIsolation({ ...check, log: silentLog })).resolves.toMatchObject({ level: expect.any(String) });
});
