// A headless browser: Chromium from npm, or the machine's own.
import { execFile } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { type Browser, chromium } from "playwright-core";
import { ROOT } from "../../local/home/constants.ts";
import { PATIENCE_MS } from "../patience-ms.ts";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/** Chromium for Linux x64 with H.264 and AAC, packed. */
const PACKAGE = "@sparticuz/chromium";
const UNPACKED = join(ROOT, "node_modules", ".cache", "copra-chromium");
/** Unpacks the browser, and the libraries that some machines lack, into the folder for temporary files. */
const UNPACK = `
import { inflate } from "${PACKAGE}";
await Promise.all(process.argv.slice(1).map((archive) => inflate(archive)));
`;

type Installed = { readonly executablePath: string; readonly libraries?: string };

/**
 * $CHROMIUM, or npm's Chromium on Linux x64, or a browser on the PATH. If there is none, throws an error that names the
 * missing program.
 */
async function findChromium(): Promise<Installed> {
  const { CHROMIUM, PATH = "" } = process.env;
  if (CHROMIUM) {
    if (isExecutable(CHROMIUM)) return { executablePath: CHROMIUM };
    throw new Error(`CHROMIUM=${CHROMIUM} is not an executable file.`);
  }
  if (process.platform === "linux" && process.arch === "x64") return chromiumOfNpm();
  const path = PATH.split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find(isExecutable);
  if (path) return { executablePath: path };
  throw new Error(
    `The player tests need Chromium: none of ${NAMES.join(", ")} is on the PATH, and CHROMIUM is not set.`,
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

/** Unpacks the browser at the first call, which takes some seconds. */
async function chromiumOfNpm(): Promise<Installed> {
  const entry = createRequire(import.meta.url).resolve(PACKAGE);
  const { version } = createRequire(entry)("../package.json") as { version: string };
  const folder = join(UNPACKED, version);
  if (!existsSync(folder)) await unpack(join(dirname(entry), "..", "bin"), folder);
  return { executablePath: join(folder, "chromium"), libraries: join(folder, "al2023", "lib") };
}

/** Unpacks into a draft folder first, so that no other run finds an incomplete browser. */
async function unpack(archives: string, folder: string): Promise<void> {
  mkdirSync(UNPACKED, { recursive: true });
  const draft = mkdtempSync(join(UNPACKED, "draft-"));
  const paths = ["chromium.br", "al2023.tar.br", "fonts.tar.br"].map((name) => join(archives, name));
  await promisify(execFile)(process.execPath, ["--input-type=module", "-e", UNPACK, ...paths], {
    cwd: ROOT,
    env: { ...process.env, TMPDIR: draft },
  });
  try {
    renameSync(draft, folder);
  } catch (error) {
    // Another run may have been faster.
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}

/**
 * Runs without a sandbox, which root may not have and containers cannot provide. It opens only the tests' own pages.
 */
export async function launchChromium(): Promise<Browser> {
  const { executablePath, libraries } = await findChromium();
  const browser = await chromium.launch({
    executablePath,
    env: { ...process.env, ...(libraries ? { LD_LIBRARY_PATH: libraries } : {}) },
    chromiumSandbox: false,
    args: ["--autoplay-policy=no-user-gesture-required", "--disable-gpu", "--disable-dev-shm-usage"],
  });
  browser.on("context", (context) => context.setDefaultTimeout(PATIENCE_MS));
  return browser;
}
