// Three machines in a local network, started by the commands of docs/self-hosting.md.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ROOT } from "../../local/home/constants.ts";
import { findFree } from "../../local/stack/ports.ts";
import { emptiedFolder } from "../fixtures.ts";
import { lookAtFile } from "../look.ts";
import { makeLongClip } from "../media.ts";
import { type Lan, openLan, type Program, runOn, startOn } from "./lan.ts";

const DOCUMENTED = { address: "192.168.1.10", port: "8787", s3Port: "9000", home: "/srv/copra" };
const COPRA = [process.execPath, join(ROOT, "cli", "copra.mjs")];

const folder = emptiedFolder();
let lan: Lan;
const programs: Program[] = [];
beforeEach(async () => {
  lan = await openLan([DOCUMENTED.address, "192.168.1.11", "192.168.1.12"]);
});
afterEach(async () => {
  for (const program of programs.splice(0).toReversed()) await program.stop();
  await lan.close();
});

/** The commands of a section of a page, split into words. */
function commandsOf(page: string, title: string): string[][] {
  const [, section = ""] = readFileSync(join(ROOT, "docs", page), "utf8").split(`\n## ${title}\n`);
  const [, block = ""] = /```sh\n(.*?)```/s.exec(section) ?? [];
  const lines = block.replaceAll("npm run --silent", "npm run").replaceAll("\\\n", " ").split("\n");
  const commands = lines.map((line) => line.replace(/(^|\s)#.*/, "").trim()).filter((line) => line !== "");
  return commands.map((line) => line.split(/\s+/));
}

it("encodes an upload, and a video in chunks, with the documented commands alone", async () => {
  const [service, ...others] = lan.machines;
  if (!service) throw new Error("no machine");
  // On the loopback interface, other programs may use the ports.
  const variables = lan.isIsolated
    ? DOCUMENTED
    : { ...DOCUMENTED, address: service.address, port: String(await findFree()), s3Port: String(await findFree()) };
  const home = join(folder, "data");
  const ofTest = (word: string): string =>
    word
      .replace(DOCUMENTED.home, home)
      .replace(DOCUMENTED.address, variables.address)
      .replace(/:8787$/, `:${variables.port}`)
      .replace(/:9000$/, `:${variables.s3Port}`)
      // A size that encodes fast.
      .replace("mp4:720p", "mp4:64x64");
  const words = commandsOf("self-hosting.md", "Three machines in a LAN").map((command) => command.map(ofTest));
  expect(words).toHaveLength(4);
  const [serve = [], token = [], node = [], encode = []] = words.map((command) => {
    const at = command.indexOf("copra");
    expect(command.slice(at - 2, at + 2)).toEqual(["npm", "run", "copra", "--"]);
    return command.slice(at + 2);
  });
  // Other tests cover the sandbox, and some machines lack parts of it.
  const env = {
    COPRA_NODE_ISOLATION: "best-effort",
    COPRA_NODES: "0",
    COPRA_PORT: variables.port,
    COPRA_S3_PORT: variables.s3Port,
  };
  const place = (machine: typeof service, name: string, more: Record<string, string> = {}) => {
    mkdirSync(join(folder, name), { recursive: true });
    return { machine, cwd: join(folder, name), env: { ...env, ...more } };
  };

  const served = startOn(place(service, "service"), [...COPRA, ...serve]);
  programs.push(served);
  await expect.poll(served.output).toContain("Copra runs.");
  const copra = (command: readonly string[]): Promise<string> =>
    runOn(place(service, "client", { COPRA_HOME: home }), [...COPRA, ...command]);
  const tokenText = await copra(token.filter((word) => word !== ">" && word !== "token"));
  const nodes = others.map((machine, at) => {
    const on = place(machine, `machine-${at}`);
    writeFileSync(join(on.cwd, "token"), tokenText, { mode: 0o600 });
    return startOn(on, [...COPRA, ...node]);
  });
  programs.push(...nodes);
  for (const program of nodes) await expect.poll(program.output).toContain("node ready");

  const video = join(folder, "client", "video.mov");
  const clip = await makeLongClip(folder, 90, "64x64");
  writeFileSync(video, readFileSync(clip));
  const frames = (await lookAtFile(clip)).frames;
  for (const options of [[], ["--ultrafast"]]) {
    await copra([...encode, ...options]);
    const out = join(folder, "client", "out");
    const [file = ""] = readdirSync(out);
    expect((await lookAtFile(join(out, file))).frames).toBe(frames);
    rmSync(out, { recursive: true });
  }
  const done = nodes.flatMap((node) =>
    node
      .output()
      .split("\n")
      .filter((line) => line.includes("task completed")),
  );
  expect(done).toContainEqual(expect.stringContaining('"kind":"chunk"'));
  expect(await copra(["doctor"])).toMatch(/ok +fleet/);
});
