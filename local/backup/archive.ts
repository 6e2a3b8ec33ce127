// Backups in one file: a compressed tar archive of a snapshot.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream, createWriteStream, renameSync, rmSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";

/** Media does not compress, and databases compress well at any level. */
const LEVEL = 1;

/** Writes a folder into an archive that only its owner can read. The file appears when it is complete. */
export async function pack(folder: string, file: string): Promise<void> {
  const draft = `${file}.${process.pid}.new`;
  const tar = spawn("tar", ["-cf", "-", "-C", folder, "."], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = exitOf(tar);
  try {
    await Promise.all([
      pipeline(tar.stdout, createGzip({ level: LEVEL }), createWriteStream(draft, { mode: 0o600, flush: true })),
      ended,
    ]);
    renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Extracts an archive into an existing folder. Throws a message for people if the file is not an archive. */
export async function unpack(file: string, folder: string): Promise<void> {
  const tar = spawn("tar", ["-xf", "-", "-C", folder, "--no-same-owner"], { stdio: ["pipe", "inherit", "pipe"] });
  // tar's exit status reports the error.
  tar.stdin.on("error", () => undefined);
  const ended = exitOf(tar);
  const read = pipeline(createReadStream(file), createGunzip(), tar.stdin).catch((error: unknown) => {
    // tar may end before it has read the padding after the last file.
    if (!hasClosed(error)) throw error;
  });
  try {
    await Promise.all([read, ended]);
  } catch (cause) {
    tar.kill();
    throw new Error(`${file} is not a backup, or is damaged`, { cause });
  }
}

const hasClosed = (error: unknown): boolean =>
  error instanceof Error && "code" in error && ["ERR_STREAM_PREMATURE_CLOSE", "EPIPE"].includes(String(error.code));

async function exitOf(tar: ReturnType<typeof spawn>): Promise<void> {
  const [code] = await once(tar, "exit");
  if (code !== 0) throw new Error(`tar ended with code ${code}`);
}
