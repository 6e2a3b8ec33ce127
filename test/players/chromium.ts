// The browser of the machine, without a screen.
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** The path of Chromium or Chrome: $CHROMIUM, or what is on the PATH. Throws in words when there is none. */
function chromiumPath(): string {
  const { CHROMIUM, PATH = "" } = process.env;
  const candidates = CHROMIUM
    ? [CHROMIUM]
    : PATH.split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)));
  const found = candidates.find(isExecutable);
  if (found) return found;
  throw new Error(
    `These tests play streams in Chromium, which is not here: ${CHROMIUM ? `CHROMIUM=${CHROMIUM} is no program` : `none of ${NAMES.join(", ")} is on the PATH`}. Debian has it: apt-get install chromium.`,
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Without a sandbox, which root may not have and containers cannot give: it opens no pages but the tests' own. */
export const launchChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: chromiumPath(),
    chromiumSandbox: false,
    args: ["--autoplay-policy=no-user-gesture-required", "--disable-gpu", "--disable-dev-shm-usage"],
  });
