// Support for publishing tests: encodes a clip as a stream, as planned for a request.

import type { HttpStreamOutput } from "#shared/job/output-spec.ts";
import { OPTIONAL_FILTERS } from "#shared/plan/command/capabilities.ts";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import type { PlannedOutput } from "#shared/plan/outputs/output-plan.ts";
import { planEncode } from "#shared/plan/tasks/plan-encode.ts";
import { specOf } from "#shared/testing/output-specs.ts";
import { locateFfmpeg } from "../../ffmpeg/discover/locate.ts";
import { runCommand } from "../../ffmpeg/run-command.ts";
import type { CommandResult } from "../../ffmpeg/run-tool.ts";
import type { PublicationOptions } from "../../publish/stream-feeds.ts";
import { probeFile } from "../../source/probe/probe.ts";

export const tools = await locateFfmpeg(process.env);

export async function ffmpeg(cwd: string, options: string): Promise<CommandResult> {
  const argv = ["-v", "error", "-nostdin", "-y", ...options.split(" ")];
  return runCommand({ path: tools.ffmpeg.path, argv, cwd, stallMs: 60_000 });
}

export type PlannedEncode = {
  readonly spec: HttpStreamOutput;
  readonly planned: PublicationOptions["planned"];
  readonly argv: readonly string[];
};

/** Plans the stream of a request with these parameters. */
export async function planStream(source: string, params: Readonly<Record<string, unknown>>): Promise<PlannedEncode> {
  const spec = specOf({ format: "httpstream", params }, 0);
  const probe = await probeFile(tools.ffprobe, source);
  const can = {
    ffmpegVersion: tools.ffmpeg.version,
    encoders: ALL_SOFTWARE.encoders,
    cpus: 1,
    filters: [...OPTIONAL_FILTERS],
    muxers: [],
    hardware: null,
  };
  const { commands, failures } = planEncode({ source, probe, outputs: [spec], capabilities: can });
  const [command] = commands;
  const [run] = command?.runs ?? [];
  const planned: PlannedOutput | undefined = command?.outputs[0];
  if (spec.type !== "httpstream" || !run || !planned?.stream) throw new Error(`No stream: ${JSON.stringify(failures)}`);
  return { spec, planned: { ...planned, stream: planned.stream }, argv: run.argv };
}
