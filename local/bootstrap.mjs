// Runs one of this repository's scripts on a machine that has only Node 20 and npm. Installs the packages of
// package-lock.json if they are missing, then starts the script with the Node from npm.
// In the npm package, which npm installs with its dependencies, it only starts the script's bundle.
// Usage: node local/bootstrap.mjs <script> [arguments]. It is plain JavaScript, and imports nothing but Node's modules.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const binFolder = join(root, "node_modules", ".bin");
// `npm ci` deletes node_modules, so the lock cannot be in there.
const installLock = join(root, ".copra", "install.lock");
// Made by local/package/build-package.ts.
const isPackage = existsSync(join(root, "worker", "worker.json"));

/** Node's compiled code of each file: with it, a program starts in half the time. */
const compileCache = join(root, "node_modules", ".cache", "compile");

/** From this version on, Node runs TypeScript files without a flag. */
const OLDEST_NODE = [22, 18];
const PARENT_CHECK_MS = 1000;
const LOCK_CHECK_MS = 200;
/** A turn takes a few ms. */
const TURN_MS = 10_000;
const NODE_SCRIPT = "encoder-node/main.ts";
/**
 * The scripts that run or deploy the system. Other scripts, such as tests, also need the packages for development:
 * twice as much.
 */
const RUN_SCRIPTS = [
  ...["local/start.ts", "local/demo.ts", "cli/main.ts", NODE_SCRIPT],
  ...["local/deploy/deploy.ts", "local/assets/assets.ts", "node_modules/wrangler/bin/wrangler.js"],
];
/** Folders of packages that nothing here reads: C headers, and players for other browsers and module systems. */
const UNREAD_FOLDERS = [
  `node-${process.platform}-${process.arch}/include`,
  "dashjs/dist/legacy",
  "dashjs/dist/modern/umd",
];
/** Folders of packages whose source maps nothing here reads. */
const UNREAD_MAPS = ["dashjs/dist/modern/esm", "hls.js/dist"];
const TOKEN_IN_ARGUMENTS =
  "Warning: every user of this machine can read a token given by --token. Use --token-file or COPRA_NODE_TOKEN.";

const [script, ...scriptArguments] = process.argv.slice(2);
if (script === undefined) {
  leave(2, "usage: node local/bootstrap.mjs SCRIPT [ARGUMENTS]");
} else {
  const withTools = !RUN_SCRIPTS.includes(script) && process.env.NODE_ENV !== "production";
  if (!isPackage) await install(withTools);
  run(findNode(), [script, ...scriptArguments]);
}

/** A single run installs. Other runs wait for it, such as a node that starts beside the system in a fresh clone. */
async function install(withTools) {
  while (!isInstalled(withTools)) {
    if (takeInstallLock()) {
      try {
        npmInstall(withTools);
        deleteUnread();
      } finally {
        rmSync(installLock, { force: true });
      }
      return;
    }
    await sleep(LOCK_CHECK_MS);
  }
}

/** False while another run holds the lock, a file with the holder's pid. Removes the lock of a dead holder. */
function takeInstallLock() {
  mkdirSync(dirname(installLock), { recursive: true });
  try {
    writeFileSync(installLock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  }
  if (isHolderDead()) removeStaleLock();
  return false;
}

function isHolderDead() {
  try {
    process.kill(Number(readFileSync(installLock, "utf8")), 0);
    return false;
  } catch (error) {
    // ENOENT: released just now. EPERM: the holder belongs to another user.
    if (!["ESRCH", "ENOENT", "EPERM"].includes(error.code)) throw error;
    return error.code === "ESRCH";
  }
}

/** Removes the lock unless a new holder has it by now. Only a single run at a time does so. */
function removeStaleLock() {
  const turn = `${installLock}.turn`;
  try {
    mkdirSync(turn);
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    // Left behind by a run that was killed in its turn.
    const { mtimeMs = Infinity } = statSync(turn, { throwIfNoEntry: false }) ?? {};
    if (mtimeMs + TURN_MS < Date.now()) rmSync(turn, { recursive: true, force: true });
    return;
  }
  try {
    if (isHolderDead()) rmSync(installLock, { force: true });
  } finally {
    rmSync(turn, { recursive: true, force: true });
  }
}

/**
 * True if node_modules has all packages of package-lock.json. Compares npm's own record of installed packages, because
 * times of files change with every checkout. npm writes the record last, so an interrupted install has none.
 */
function isInstalled(withTools) {
  const installed = packagesOf(join(root, "node_modules", ".package-lock.json"));
  if (installed === null) return false;
  // Without a lock file there is nothing to compare: any installed packages count.
  const wanted = packagesOf(join(root, "package-lock.json")) ?? {};
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === "") return true;
    const present = installed[path];
    if (present !== undefined) return present.version === entry.version;
    // Optional packages may be absent: they are for other machines.
    return Boolean(entry.optional || entry.devOptional || (entry.dev && !withTools));
  });
}

function packagesOf(lockFile) {
  try {
    return JSON.parse(readFileSync(lockFile, "utf8")).packages ?? {};
  } catch {
    return null;
  }
}

function npmInstall(withTools) {
  console.error("Installing Copra's npm packages; this takes a minute the first time …");
  const what = withTools ? [] : ["--omit=dev"];
  const hasLock = existsSync(join(root, "package-lock.json"));
  // `npm ci` first deletes all packages. If only tools are missing, a running system may use the other packages.
  const lacksTools = withTools && isInstalled(false);
  // `npm ci` rejects lock files without the packages of all platforms, for example from a machine that could not see
  // all of them. `npm install` takes the versions in the lock file, and --no-save leaves the file as it is.
  if (hasLock && !lacksTools && npm("ci", "pipe", ...what) === 0) return;
  const status = npm("install", "inherit", "--no-save", ...what);
  if (status !== 0) leave(1, "npm could not install the packages; its output is above. Fix the cause and try again.");
}

/** Frees a fifth of the disk that the packages take. */
function deleteUnread() {
  const packages = join(root, "node_modules");
  const maps = UNREAD_MAPS.map((path) => join(packages, path))
    .filter(existsSync)
    .flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => name.endsWith(".map"))
        .map((name) => join(folder, name)),
    );
  for (const path of [...UNREAD_FOLDERS.map((path) => join(packages, path)), ...maps]) {
    rmSync(path, { recursive: true, force: true });
  }
}

function npm(command, stdio, ...options) {
  const argv = [command, ...options, "--no-audit", "--no-fund", "--loglevel=error"];
  const { status, error } = spawnSync("npm", argv, { cwd: root, stdio: ["ignore", stdio, stdio] });
  if (error) leave(1, `npm could not be started (${error.message}). Install npm and try again.`);
  return status;
}

function findNode() {
  const brought = isPackage ? packagedNode() : join(binFolder, "node");
  const answer = spawnSync(brought, ["--version"], { encoding: "utf8" });
  if (answer.status === 0 && isRecent(answer.stdout.trim())) return brought;
  if (isRecent(process.version)) return process.execPath;
  const have = `this is Node ${process.version}, and npm brought none that runs on ${process.platform}-${process.arch}`;
  return leave(1, `Copra needs Node ${OLDEST_NODE.join(".")} or newer: ${have}. Install Node 24 and try again.`);
}

/** The Node that npm installed beside the package or above it. */
function packagedNode() {
  try {
    const name = `node-${process.platform}-${process.arch}`;
    return createRequire(import.meta.url).resolve(`${name}/bin/node`);
  } catch {
    return process.execPath; // The optional dependency is not installed.
  }
}

function isRecent(version) {
  const [major = 0, minor = 0] = version.replace(/^v/, "").split(".").map(Number);
  return major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
}

function run(node, wholeArgv) {
  const { argv, token, env: environment } = takeToken(wholeArgv, process.env);
  if (isPackage) argv[0] = argv[0].replace(/\.ts$/, ".mjs");
  const env = {
    ...environment,
    PATH: [isPackage ? dirname(node) : binFolder, process.env.PATH ?? ""].join(delimiter),
    COPRA_PARENT_PID: String(process.pid),
    ...(isPackage ? {} : { NODE_COMPILE_CACHE: environment.NODE_COMPILE_CACHE ?? compileCache }),
  };
  const child = spawn(node, argv, { stdio: ["inherit", "inherit", "inherit", ...(token ? ["pipe"] : [])], env });
  // A script that has already ended does not read the token.
  child.stdio[3]?.on("error", () => undefined).end(token);
  child.on("error", (error) => leave(1, `${node} could not be started: ${error.message}`));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  leaveWithNpm(child);
  child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}

/**
 * Removes a node's token from arguments and environment: other processes can read both while the node runs. The node
 * gets it by file descriptor 3 (encoder-node/token.ts).
 */
function takeToken([script, ...args], { COPRA_NODE_TOKEN: inEnvironment, ...rest }) {
  if (!script.endsWith(NODE_SCRIPT)) return { argv: [script, ...args], env: process.env };
  let token = inEnvironment;
  const argv = [];
  for (let at = 0; at < args.length; at++) {
    const [name, ...value] = args[at].split("=");
    if (name !== "--token") argv.push(args[at]);
    else token = value.length > 0 ? value.join("=") : args[++at];
  }
  if (argv.length < args.length) console.error(TOKEN_IN_ARGUMENTS);
  return { argv: [script, ...argv], token, env: token ? { ...rest, COPRA_NODE_TOKEN_FD: "3" } : rest };
}

/** Ends the script when `npm start` is killed: npm cannot pass on a SIGKILL. */
function leaveWithNpm(child) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && child.kill("SIGTERM"), PARENT_CHECK_MS).unref();
}

function leave(code, words) {
  console.error(words);
  process.exit(code);
}
