// The files of this machine that a sandboxed run sees: system libraries, the tool and its devices. It sees no home
// folder, no configuration and no other task's work.
import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { linkedFile } from "../../folders/open-source.ts";
import type { Mount } from "./sandbox.ts";

/** Programs and libraries of the system. Missing paths are skipped. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"];
/**
 * Settings that the loader, Debian's alternatives (such as BLAS), fonts and GPU drivers read. They contain no secrets.
 */
const SETTINGS = ["ld.so.cache", "alternatives", "fonts", "nvidia", "OpenCL", "vulkan", "glvnd", "libva.conf", "drirc"];
const DEVICES = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"];
/** Devices of NVIDIA and of the direct rendering manager. Only runs with hardware encoders see them. */
const GPU_DEVICE = /^(?:nvidia|dri$)/;

/** Additional folders that ffmpeg needs, in the form of PATH. The operator sets it. */
export const TOOL_FOLDERS_VARIABLE = "COPRA_TOOL_FOLDERS";

type Env = Readonly<Record<string, string | undefined>>;

/** The mounts of all runs. */
export async function systemMounts(env: Env): Promise<Mount[]> {
  const folders = [env[TOOL_FOLDERS_VARIABLE], env.LD_LIBRARY_PATH].flatMap((list) => list?.split(delimiter) ?? []);
  const custom = folders.filter((folder) => folder !== "" && resolve(folder) !== "/").map((folder) => resolve(folder));
  return existing([
    ...SYSTEM.map((path) => ({ path, as: "system" as const })),
    ...SETTINGS.map((name) => ({ path: join("/etc", name), as: "system" as const })),
    ...custom.filter((path) => !isOfSystem(path)).map((path) => ({ path, as: "system" as const })),
    ...DEVICES.map((path) => ({ path, as: "device" as const })),
  ]);
}

const isOfSystem = (path: string): boolean => SYSTEM.some((folder) => path === folder || path.startsWith(`${folder}/`));

/**
 * The tool and, if it is in a folder named `bin`, the sibling library folders. Throws ENOENT when it does not exist.
 */
export async function toolMounts(tool: string): Promise<Mount[]> {
  const path = resolve(tool);
  const real = await realpath(path);
  const folder = dirname(real);
  const libraries = basename(folder) === "bin" ? ["lib", "lib64"].map((name) => join(dirname(folder), name)) : [];
  const wanted = [...new Set([path, real, ...libraries])].filter((each) => !isOfSystem(each));
  return existing(wanted.map((each) => ({ path: each, as: "tool" as const })));
}

/** GPU devices, and `/sys`, where drivers look them up. */
export async function gpuMounts(): Promise<Mount[]> {
  const names = await readdir("/dev").catch(() => []);
  const devices = names.filter((name) => GPU_DEVICE.test(name)).map((name) => join("/dev", name));
  return existing([
    ...devices.map((path) => ({ path, as: "device" as const })),
    { path: "/sys", as: "system" as const },
  ]);
}

/** Groups whose members may use the GPUs, except root's. */
export async function gpuGroups(): Promise<number[]> {
  const render = await readdir("/dev/dri").catch(() => []);
  const names = await readdir("/dev").catch(() => []);
  const devices = [
    ...render.map((name) => join("/dev/dri", name)),
    ...names.filter((name) => name.startsWith("nvidia")).map((name) => join("/dev", name)),
  ];
  const groups = await Promise.all(
    devices.map((path) =>
      stat(path).then(
        ({ gid }) => gid,
        () => 0,
      ),
    ),
  );
  return [...new Set(groups)].filter((gid) => gid > 0);
}

type Wanted = Pick<Mount, "path" | "as">;

/**
 * Resolves the paths and drops missing files. The name of a file to read is not resolved: a symbolic link is dropped,
 * except the node's own links to sources in folders of the operator.
 */
export async function existing(wanted: readonly Wanted[]): Promise<Mount[]> {
  const mounts = await Promise.all(wanted.map(mountOf));
  return mounts.flatMap((mount) => mount ?? []);
}

async function mountOf({ path, as }: Wanted): Promise<Mount | null> {
  try {
    const inode = as === "read" ? linkedFile(path) : undefined;
    if (inode !== undefined) return { path, as, from: await realpath(path), isFolder: false, inode };
    const from = as === "read" ? join(await realpath(dirname(path)), basename(path)) : await realpath(path);
    const stats = await lstat(from);
    return stats.isSymbolicLink() ? null : { path, as, from, isFolder: stats.isDirectory() };
  } catch {
    return null;
  }
}
