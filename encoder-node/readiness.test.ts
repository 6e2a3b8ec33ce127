import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { lowDisk, watchReasons } from "./readiness.ts";

it("reports each change of the reasons once", async () => {
  let reasons: string[] = [];
  const changed = vi.fn();
  const end = watchReasons(() => reasons, changed, 1);
  for (const [next, calls] of [
    [["late"], 1],
    [["late"], 1],
    [[], 2],
  ] as const) {
    reasons = [...next];
    await vi.waitFor(() => expect(changed).toHaveBeenCalledTimes(calls));
  }
  end();
});

// Only root may mount a small disk.
describe.skipIf(process.getuid?.() !== 0)("a node with a small disk", () => {
  const mounted: string[] = [];
  const diskOf = (size: string): { workFolder: string } => {
    const workFolder = mkdtempSync(join(tmpdir(), "copra-disk-"));
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", workFolder]);
    mounted.push(workFolder);
    return { workFolder };
  };
  afterEach(() => {
    for (const folder of mounted.splice(0)) {
      execFileSync("umount", [folder]);
      rmSync(folder, { recursive: true });
    }
  });

  it("is not ready, and states the space that it has for sources", () => {
    const expected = /^its disk has \d+ MB for sources, beside a reserve of 512 MiB; it needs 1 GiB: free space there/;
    expect(lowDisk(diskOf("280m"), false)).toEqual([expect.stringMatching(expected)]);
    expect(lowDisk(diskOf("1600m"), false)).toEqual([]);
  });

  it("stays ready while its own work or sources use the disk", () => {
    const disk = diskOf("280m");
    expect(lowDisk(disk, true)).toEqual([]);
    mkdirSync(join(disk.workFolder, "sources"));
    expect(lowDisk(disk, false)).toHaveLength(1);
    writeFileSync(join(disk.workFolder, "sources", "input"), "");
    expect(lowDisk(disk, false)).toEqual([]);
  });
});
