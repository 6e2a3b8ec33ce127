// Opens pages in the browser of the person who runs a command.
import { spawn } from "node:child_process";
import { CommandError, EXIT } from "../exit.ts";

/**
 * Returns the program and arguments that open a URL. Returns null if the scheme is not http(s): a service must not
 * start other programs. No shell parses the URL, which contains no space or quotation mark.
 */
export function openerOf(url: string, platform: NodeJS.Platform): readonly [string, ...string[]] | null {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return null;
  if (platform === "darwin") return ["open", parsed.href];
  if (platform === "win32") return ["rundll32.exe", "url.dll,FileProtocolHandler", parsed.href];
  return ["xdg-open", parsed.href];
}

/** Resolves with true if the program started. Throws CommandError if the scheme is not http(s). */
export async function openUrl(url: string): Promise<boolean> {
  const opener = openerOf(url, process.platform);
  if (!opener)
    throw new CommandError(EXIT.service, "The URL is not opened: it does not start with http:// or https://");
  const [program, ...args] = opener;
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: "ignore", detached: true });
    child.on("error", () => resolve(false));
    child.on("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}
