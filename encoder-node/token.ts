// The node token on its way to this process: never among what other processes can read of it.
import { closeSync, readFileSync } from "node:fs";

/**
 * Names the file descriptor from which a launcher lets the node read its token: the environment that a process is started with
 * stays readable in /proc for as long as it lives, whatever it deletes.
 */
export const TOKEN_FD_VARIABLE = "COPRA_NODE_TOKEN_FD";
const TOKEN_VARIABLE = "COPRA_NODE_TOKEN";

/** Takes the token out of the environment, or from the launcher's descriptor. */
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

/** The token in a file. Throws a sentence that names the file. */
export function readTokenFile(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "unknown error";
    throw new Error(`--token-file ${path} cannot be read (${code})`, { cause: error });
  }
}
