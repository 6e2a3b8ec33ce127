// Kills a job's only node at a random time and starts another node at once, again and again, on a busy machine: `node
// test/faults/kill-nodes.ts [kills] [burners]` (default: 200 and 4). Every job must complete with all its frames.
// Prints a line per kill, and the logs of the nodes for each job that did not complete. Exits with 1 if any job did not
// complete.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { locateFfmpeg } from "../../encoder-node/ffmpeg/discover/locate.ts";
import { toolEnvironment } from "../../encoder-node/ffmpeg/sandbox/tool-environment.ts";
import { startSourceServer } from "../services/source-server.ts";
import { startTestStack, type TestStack } from "../stack.ts";
import { startFaultNode } from "./fault-node.ts";

const FRAMES = 240;
const SOURCE = `-f lavfi -i testsrc2=s=320x180:r=30 -f lavfi -i sine -frames:v ${FRAMES} -t 8 -preset ultrafast`;
const OUTPUTS = { "mp4:320x180": {}, "mp4:160x90": {}, "jpg:160x": {} };
const JOB_LIMIT_MS = 300_000;

type Kill = { readonly stage: string; readonly ready: (stack: TestStack, id: string) => Promise<unknown> };

/** Kills at the first sign of encoding, or at a random time. */
function killAt(number: number, usualMs: number): Kill {
  if (number % 2 === 0) return { stage: "at the first video.encoding", ready: isEncoding };
  const afterMs = Math.round(Math.random() * usualMs);
  return { stage: `after ${afterMs} ms`, ready: () => sleep(afterMs) };
}

async function isEncoding(stack: TestStack, id: string): Promise<void> {
  for (;;) {
    const { body } = await stack.request("GET", `/jobs/${id}`);
    if (/video\.encoding|"completed_at":"/.test(JSON.stringify(body))) return;
    await sleep(20);
  }
}

function burn(count: number): ChildProcess[] {
  return Array.from({ length: count }, () => spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }));
}

async function framesOf(stack: TestStack, id: string): Promise<readonly string[]> {
  const { body } = await stack.request("GET", `/metadata/jobs/${id}`);
  return [...JSON.stringify(body).matchAll(/"nb_frames":"(\d+)"/g)].flatMap(([, count]) => count ?? []);
}

async function main(kills = "200", burners = "4"): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "copra-soak-"));
  const { ffmpeg } = await locateFfmpeg(process.env);
  execFileSync(ffmpeg.path, ["-v", "error", ...SOURCE.split(" "), join(folder, "source.mp4")], {
    env: toolEnvironment(),
  });
  const sources = await startSourceServer(folder);
  const stack = await startTestStack();
  const load = burn(Number(burners));
  const submit = async (name: string): Promise<string> => {
    const paths = Object.entries(OUTPUTS).map(([format], at) => [format, { path: `${name}/${at}.out` }]);
    return (await stack.submit({ input: { url: sources.urlOf("source.mp4") }, outputs: Object.fromEntries(paths) })).id;
  };
  let failures = 0;
  try {
    const startedAt = performance.now();
    await stack.waitForJob(await submit("undisturbed"), JOB_LIMIT_MS);
    const usualMs = performance.now() - startedAt;
    console.log(`undisturbed: ${Math.round(usualMs)} ms`);
    for (let number = 0; number < Number(kills); number++) {
      const { stage, ready } = killAt(number, usualMs);
      const startedAt = performance.now();
      const id = await submit(`kill-${number}`);
      await ready(stack, id);
      process.kill(stack.pids().nodes[0] ?? 0, "SIGKILL");
      const url = stack.api.replace(/\/v2$/, "");
      const home = mkdtempSync(join(folder, "node-"));
      const other = startFaultNode({ name: `other-${number}`, url, token: stack.nodeToken, home });
      const job = await stack.waitForJob(id, JOB_LIMIT_MS);
      const frames = job.status === "job.completed" ? await framesOf(stack, id) : [];
      const isWhole = frames.includes(String(FRAMES));
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      console.log(`kill ${number + 1}: ${stage}; ${job.status}${isWhole ? "" : ", NOT WHOLE"} in ${seconds} s`);
      if (!isWhole) {
        failures += 1;
        console.log(JSON.stringify(job, null, 1));
        for (const line of other.lines()) console.log(JSON.stringify(line));
        for (const name of ["node-1", "control-plane"]) console.log(stack.log(name).split("\n").slice(-60).join("\n"));
      }
      await other.end();
      rmSync(home, { recursive: true, force: true });
    }
  } finally {
    for (const each of load) each.kill("SIGKILL");
    await stack.stop();
    await sources.close();
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(failures === 0 ? `All ${kills} jobs completed.` : `${failures} of ${kills} jobs did not complete.`);
  process.exitCode = failures === 0 ? 0 : 1;
}

await main(...process.argv.slice(2));
