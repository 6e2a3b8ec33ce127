// Opens pages in the browser of the person who runs a command.
import { spawn } from "node:child_process";
import { CommandError, EXIT } from "../exit.ts";

/**
 * The program and arguments that open a URL; null for what is no http(s) URL: a service must not start other programs.
 * No shell reads the URL, which has no space or quotation mark.
 */
export function openerOf(url: string, platform: NodeJS.Platform): readonly [string, ...string[]] | null {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return null;
  if (platform === "darwin") return ["open", parsed.href];
  if (platform === "win32") return ["rundll32.exe", "url.dll,FileProtocolHandler", parsed.href];
  return ["xdg-open", parsed.href];
}

/** Resolves with whether the program could be started. Throws CommandError for what is no http(s) URL. */
export async function openUrl(url: string): Promise<boolean> {
  const opener = openerOf(url, process.platform);
  if (!opener)
    throw new CommandError(EXIT.service, "The URL is not opened: it does not begin with http:// or https://");
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
