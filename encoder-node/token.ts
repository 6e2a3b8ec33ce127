// Reads the node token from a place that other processes cannot read.
import { closeSync, readFileSync } from "node:fs";

/**
 * The variable with the file descriptor from which the node reads its token. The environment at a process's start stays
 * readable in /proc, even after the process deletes a variable.
 */
export const TOKEN_FD_VARIABLE = "COPRA_NODE_TOKEN_FD";
const TOKEN_VARIABLE = "COPRA_NODE_TOKEN";

/** Reads the token from the launcher's descriptor or the environment, and removes both variables. */
export function takeToken(env: Record<string, string | undefined>): string | undefined {
  const fd = env[TOKEN_FD_VARIABLE];
  const token = fd === undefined ? env[TOKEN_VARIABLE] : readAndClose(Number(fd));
  delete env[TOKEN_FD_VARIABLE];
  delete env[TOKEN_VARIABLE];
  return token;
}

function readAndClose(fd: number): string {
  try {
    return readFileSync(fd, "utf8").trim();
  } finally {
    closeSync(fd);
  }
}

/** Reads the token from a file. Throws an error whose message names the file. */
export function readTokenFile(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "unknown error";
    throw new Error(`--token-file ${path} cannot be read (${code})`, { cause: error });
  }
}
