import { afterAll, beforeAll } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { makeClip } from "./plan-runs.ts";
import { closeServers } from "./range-server.ts";
import { openWorkshop, type SourceWorkshop } from "./source-workshop.ts";

/** Opens a folder for the sources of a test file. After its tests, closes the servers and removes the folder. */
export function workshopOfFile(): SourceWorkshop {
  const workshop = openWorkshop(fileFolder());
  afterAll(closeServers);
  return workshop;
}

/** Makes clips in a folder before the tests of the file, in order: a clip may be made of an earlier clip. */
export function clipsOfFile(folder: string, clips: Readonly<Record<string, string>>): void {
  beforeAll(async () => {
    for (const [name, argv] of Object.entries(clips)) await makeClip(folder, name, argv);
  });
}
