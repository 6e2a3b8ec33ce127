import { chmod, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

// Fresh copies of the modules: earlier test files in this process may have turned the sandbox off.
vi.resetModules();
const { findIsolation } = await import("../ffmpeg/sandbox/isolation.ts");
const { runCommand } = await import("../ffmpeg/run-command.ts");
const { linkSource } = await import("./open-source.ts");
const { openFolders } = await import("./node-folders.ts");
const { sandbox } = await findIsolation();

describe.skipIf(!sandbox)("a run of a tool on a source in a folder", () => {
  let base: string;
  let source: Awaited<ReturnType<typeof linkSource>>;
  const at = (...names: string[]): string => join(base, ...names);
  const open = async (): Promise<void> => {
    const options = [{ name: "media", path: at("media"), isReadOnly: true }];
    const folders = await openFolders(options, at("work"));
    const { signal } = new AbortController();
    source = await linkSource("folder://media/in/a.mov", { folders, workFolder: at("work"), signal });
  };
  const copyOf = (path: string) =>
    runCommand({ path: "/usr/bin/cp", argv: [path, "copy"], cwd: at("run"), stallMs: 30_000, reads: [source.path] });

  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), "copra-linked-"));
    for (const name of ["media", "media/in", "outside", "work", "run"]) await mkdir(at(name), { mode: 0o700 });
    for (const name of ["a.mov", "b.mov"]) await writeFile(at("media", "in", name), "video");
    await writeFile(at("outside", "a.mov"), "secret");
  });
  afterEach(async () => {
    source.release();
    await rm(base, { recursive: true, force: true });
  });

  it("reads the source, and no other file of the folder", async () => {
    await open();
    expect(await copyOf(source.path)).toEqual({ ok: true });
    expect(await readFile(at("run", "copy"), "utf8")).toBe("video");
    expect(await copyOf(at("media", "in", "a.mov"))).toMatchObject({ ok: false });
    expect(await copyOf(at("media", "in", "b.mov"))).toMatchObject({ ok: false });
  });

  it("reads a file that only the node may read, whose rights stay as they are", async () => {
    await chmod(at("media", "in", "a.mov"), 0o600);
    await open();
    expect(await copyOf(source.path)).toEqual({ ok: true });
    expect(await readFile(at("run", "copy"), "utf8")).toBe("video");
  });

  it.each(["a link", "another file"])("does not start after %s has replaced the source", async (what) => {
    await open();
    await rename(at("media", "in"), at("media", "moved"));
    if (what === "a link") await symlink(at("outside"), at("media", "in"));
    else await rename(at("outside"), at("media", "in"));
    const stderrTail = expect.stringContaining("sandbox: the source was replaced");
    expect(await copyOf(source.path)).toMatchObject({ ok: false, stderrTail });
  });
});
