import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { closeServers } from "./range-server.ts";
import { openWorkshop, type SourceWorkshop } from "./source-workshop.ts";

/** Opens a folder for the sources of a test file. After its tests, closes the servers and removes the folder. */
export function workshopOfFile(): () => SourceWorkshop {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "copra-sources-"));
  });
  afterAll(async () => {
    closeServers();
    await rm(folder, { recursive: true, force: true });
  });
  return () => openWorkshop(folder);
}
