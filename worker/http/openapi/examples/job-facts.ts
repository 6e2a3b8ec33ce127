// Examples of the responses with details about a job's work.
import type { CommandList, RequestView, RunningCommandList } from "#shared/api/command-responses.ts";
import type { QueueView, TaskList } from "#shared/api/task-responses.ts";

type FactExamples = {
  TaskList: TaskList;
  CommandList: CommandList;
  RunningCommandList: RunningCommandList;
  RequestView: RequestView;
  QueueView: QueueView;
};

export const factExamples = (job_id: string): FactExamples => ({
  QueueView: { job_id, ahead: 3, starts_in_seconds: 240 },
  TaskList: {
    job_id,
    tasks: [
      {
        id: "inspect",
        kind: "inspect",
        outputs: [],
        status: "completed",
        attempt: 1,
        node: "attic",
        started_at: "2026-11-21T05:23:27.104Z",
        ended_at: "2026-11-21T05:23:29.871Z",
        progress: 1,
      },
      {
        id: "chunk-0",
        kind: "chunk",
        outputs: ["mp4:240p"],
        status: "running",
        attempt: 2,
        node: "cellar",
        chunk: { number: 1, from_seconds: 0, to_seconds: 24 },
        started_at: "2026-11-21T05:23:41.020Z",
        stage: "encoding",
        progress: 0.62,
        fps: 131.5,
        speed: 5.26,
      },
      {
        id: "chunk-1",
        kind: "chunk",
        outputs: ["mp4:240p"],
        status: "waiting",
        attempt: 0,
        progress: 0,
        chunk: { number: 2, from_seconds: 24, to_seconds: 48 },
      },
    ],
    attempts: [
      {
        task: "inspect",
        attempt: 1,
        node: "attic",
        outcome: "completed",
        started_at: "2026-11-21T05:23:27.104Z",
        ended_at: "2026-11-21T05:23:29.871Z",
      },
      {
        task: "chunk-0",
        attempt: 1,
        node: "attic",
        outcome: "lost",
        reason: "The node did not report again",
        started_at: "2026-11-21T05:23:30.002Z",
        ended_at: "2026-11-21T05:23:41.015Z",
      },
    ],
    attempts_dropped: 0,
  },
  CommandList: {
    job_id,
    commands: [
      {
        task: "encode",
        attempt: 1,
        node: "attic",
        started_at: "2026-11-21T05:23:30.442Z",
        seconds: 12.61,
        argv: ["-y", "-nostdin", "-i", "input", "-map", "[v0]", "-c:v", "libx264", "240p.mp4"],
        exit_code: 1,
        stderr_tail: "[mp4 @ 0x55d0] Error opening output 240p.mp4",
      },
    ],
    commands_dropped: 0,
  },
  RunningCommandList: {
    job_id,
    commands: [
      {
        task: "encode",
        attempt: 1,
        node: "attic",
        started_at: "2026-11-21T05:23:30.442Z",
        seconds: 4.2,
        argv: ["-y", "-nostdin", "-i", "input", "-map", "[v0]", "-c:v", "libx264", "240p.mp4"],
        output: "frame=512 time=00:00:20.480 fps=121.9 speed=4.88x",
      },
    ],
  },
  RequestView: {
    job_id,
    request: {
      input: { url: "https://media.example.com/video.mov" },
      storage: { service: "s3", bucket: "my-bucket", region: "eu-west-1" },
      outputs: { "mp4:240p": { path: "video/240p.mp4" } },
      notification: { type: "http", url: "https://example.com/hook" },
      settings: { ultrafast: true },
    },
    left_out: ["input.url", "storage.credentials"],
  },
});
