// /v2/probes: facts that a node finds about a source.
import { ProbeParameters } from "../../query/probe-query.ts";
import { JOB_ID, QUEUED_PROBE } from "../examples/responses.ts";
import { type Operation, pathParameter, queryParameters, success } from "../operation.ts";

const probe = { tag: "Probes", access: "client" } as const;
const WAIT = queryParameters(ProbeParameters);

const ended = (description: string): Operation["responses"][number] => success(200, description, "Probe");

export const PROBE_OPERATIONS: readonly Operation[] = [
  {
    ...probe,
    method: "post",
    path: "/v2/probes",
    id: "createProbe",
    summary: "Inspect a source",
    description:
      "A node reads the contents of a source, without a job: tracks, codecs, sizes, length, tags. Of an MP4 or QuickTime file " +
      "on a host with range requests it reads the header and the first frames, of others the whole file. A probe is " +
      "assigned before jobs, waits 10 minutes for a node at most, and is kept for a day. `POST /v2/jobs` with " +
      "`dry_run=true&probe=ID` plans a job for its source.",
    parameters: WAIT,
    body: {
      json: "NewProbe",
      examples: {
        url: { summary: "A URL", value: { input: { url: "https://media.example.com/video.mov" } } },
      },
    },
    responses: [
      success(202, "The new probe, which has not ended", "Probe", QUEUED_PROBE),
      ended("The probe, if it ended within `wait` seconds"),
    ],
    codes: [
      ...(["json_not_valid", "request_not_valid", "query_not_valid", "body_too_large"] as const),
      ...(["input_not_valid", "input_url_not_valid", "too_many_jobs", "sealing_key_missing"] as const),
    ],
  },
  {
    ...probe,
    method: "get",
    path: "/v2/probes/:id",
    id: "getProbe",
    summary: "Read a probe",
    parameters: [pathParameter("id", "The id of the probe", JOB_ID), ...WAIT],
    responses: [ended("The probe")],
    codes: ["probe_not_found", "query_not_valid"],
  },
];
