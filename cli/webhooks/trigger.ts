// copra webhooks trigger: sends an example of an event to a receiver on this machine.
import { randomBytes } from "node:crypto";
import type { Run } from "../command-spec.ts";
import { namedFetch } from "../connection/named-fetch.ts";
import { textOption } from "../context.ts";
import { CommandError, EXIT, usageError } from "../exit.ts";
import { forwardUrl } from "./forward.ts";
import { listenSecret, signedHeaders } from "./signing.ts";

const LIMIT_MS = 30_000;

export const trigger: Run = async ({ output, env, now, signal }, [event = ""], options) => {
  const receiver = textOption(options, "forwardTo");
  if (receiver === undefined) throw usageError("Name the receiver: --forward-to localhost:3000/hook");
  const url = forwardUrl(receiver);
  const body = JSON.stringify(examplePayload(event, now()));
  const id = `msg_example_${randomBytes(6).toString("hex")}`;
  const headers = signedHeaders(id, body, listenSecret(env), now());
  const limits = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]);
  const response = await namedFetch(url, { method: "POST", headers, body, redirect: "manual", signal: limits });
  await response.body?.cancel();
  output.data({ id, event, status: response.status, body }, () => `${event} -> HTTP ${response.status}`);
  if (!response.ok) throw new CommandError(EXIT.failed, `The receiver responded with HTTP ${response.status}`);
};

const JOB_ID = "example0000000";

/** Returns a payload like the service's payloads (shared/job/notification-payload.ts). Exported for its test. */
export function examplePayload(event: string, nowMs: number): object {
  const date = `${new Date(nowMs).toISOString().slice(0, 19).replace("T", " ")} +0000`;
  const failed = event.endsWith(".failed");
  const failure = failed ? { error: "This is an example of a failure", error_code: "encoding_failed" } : {};
  const input = { status: event === "input.failed" ? "input.failed" : "input.transferred" };
  const status = event === "job.aborted" ? "video.aborted" : failed ? "video.failed" : "video.encoded";
  const output = {
    key: "mp4:720p",
    type: "video",
    format: "mp4:720p",
    status,
    ...(status === "video.encoded" ? { url: "https://storage.example.com/720p.mp4" } : {}),
    ...failure,
  };
  const { format: _format, ...notified } = output;
  const job = {
    type: "job",
    status: event,
    progress: "100%",
    id: JOB_ID,
    created_at: date,
    completed_at: date,
    input,
    outputs: [output],
  };
  const data = event.startsWith("input.")
    ? { ...input, progress: "100%", ...failure }
    : event.startsWith("output.")
      ? { ...notified, progress: "100%" }
      : job;
  return { job_id: JOB_ID, event, metadata: false, data };
}
