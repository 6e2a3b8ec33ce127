// Folders for the files of the command line: the XDG base directories, or the standard folders of Windows.
import { homedir } from "node:os";
import { join } from "node:path";

export type Env = Readonly<Record<string, string | undefined>>;

/** `config`: settings that people edit. `state`: data that commands store. */
export function folderOf(kind: "config" | "state", env: Env, platform: string = process.platform): string {
  const folder = kind === "config" ? env.XDG_CONFIG_HOME : env.XDG_STATE_HOME;
  if (folder) return join(folder, "copra");
  const home = env.HOME || env.USERPROFILE || homedir();
  if (platform === "win32") {
    const data = kind === "config" ? env.APPDATA : env.LOCALAPPDATA;
    return join(data || join(home, "AppData", kind === "config" ? "Roaming" : "Local"), "copra");
  }
  return kind === "config" ? join(home, ".config", "copra") : join(home, ".local", "state", "copra");
}
