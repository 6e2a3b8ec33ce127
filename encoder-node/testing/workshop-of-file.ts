import { afterAll } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { closeServers } from "./range-server.ts";
import { openWorkshop, type SourceWorkshop } from "./source-workshop.ts";

/** Opens a folder for the sources of a test file. After its tests, closes the servers and removes the folder. */
export function workshopOfFile(): SourceWorkshop {
  const workshop = openWorkshop(fileFolder());
  afterAll(closeServers);
  return workshop;
}
