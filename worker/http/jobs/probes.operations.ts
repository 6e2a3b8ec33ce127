// /v2/probes: facts that a node finds about a source.
import { ProbeView } from "#shared/api/probe-responses.ts";
import { NAMED } from "#shared/named-schemas.ts";
import { ProbeBody } from "#shared/request/probe-request.ts";
import { JOB_ID, QUEUED_PROBE } from "../operation/examples/responses.ts";
import { operations, pathParameter, queryParameters, success } from "../operation/operation.ts";
import { ProbeParameters } from "../query/probe-query.ts";

const ID = pathParameter("id", "The id of the probe", JOB_ID);
const WAIT = queryParameters(ProbeParameters);

export const PROBE_OPERATIONS = operations({ tag: "Probes", access: ["jobs:create"], parameters: WAIT, path: [ID] })({
  createProbe: {
    route: "POST /v2/probes",
    isUnaudited: true,
    summary: "Inspect a source",
    description:
      "A node reads the contents of a source, without a job: tracks, codecs, sizes, length, tags. Of an MP4 or QuickTime file " +
      "on a host with range requests it reads the header and the first frames, of others the whole file. A probe is " +
      "assigned before jobs, waits 10 minutes for a node at most, and is kept for a day. `POST /v2/jobs` with " +
      "`dry_run=true&probe=ID` plans a job for its source.",
    body: {
      json: ProbeBody.describe("A source to inspect").register(NAMED, { id: "NewProbe" }),
      examples: { url: { summary: "A URL", value: { input: { url: "https://media.example.com/video.mov" } } } },
    },
    responses: [
      success(202, "The new probe, which has not ended", ProbeView, QUEUED_PROBE),
      success(200, "The probe, if it ended within `wait` seconds", ProbeView),
    ],
    codes: ["input_not_valid", "input_url_not_valid", "too_many_jobs", "sealing_key_missing"],
  },
  getProbe: {
    route: "GET /v2/probes/:id",
    summary: "Read a probe",
    responses: [success(200, "The probe", ProbeView)],
    codes: ["probe_not_found"],
  },
});
