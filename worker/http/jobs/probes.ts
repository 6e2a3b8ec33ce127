// /v2/probes: facts that a node finds about a source, without a job.

import type { Context } from "hono";
import type { ProbeView } from "#shared/api/probe-responses.ts";
import { AppError } from "#shared/errors.ts";
import { isJobId, newJobId } from "#shared/ids.ts";
import { readTraceContext } from "#shared/network/trace-context.ts";
import { parseProbeRequest } from "#shared/request/probe-request.ts";
import { randomBytes } from "../../crypto/bytes.ts";
import { CALL_LIMIT_MS, withDeadline } from "../../deadline.ts";
import { sealJobSecrets } from "../../job/secrets/job-secrets.ts";
import { type JobResult, jobOf, PROBE_NOT_FOUND } from "../../rpc/job.ts";
import { settingsOf } from "../../settings.ts";
import type { ClientEnv } from "../auth/auth.ts";
import { parseJson, readBytes } from "../body/read-body.ts";
import { mount } from "../operation/mount.ts";
import { parseQuery } from "../query/parse-query.ts";
import { ProbeParameters } from "../query/probe-query.ts";
import { jsonResponse } from "../responses/json-response.ts";
import { requireJobQuota } from "./create/job-quota.ts";
import { creatorOf, shareOf, startJob } from "./create/new-job.ts";
import { resolveInput } from "./create/resolve-input.ts";
import { PROBE_OPERATIONS } from "./probes.operations.ts";

export const probes = mount(PROBE_OPERATIONS, {
  createProbe: async (context) => {
    const { wait } = parseQuery(ProbeParameters, context.req.query());
    const { sealingKeys, allowPrivate } = settingsOf(context.env);
    const parsed = parseProbeRequest(parseJson(await readBytes(context.req)), allowPrivate);
    if (!parsed.ok) throw AppError.from(parsed.error);
    const { settings, secret } = parsed.value;
    const creator = creatorOf(context);
    const { account, origin } = creator;
    const input = await resolveInput(creator, parsed.value.input, secret);
    const id = newJobId(randomBytes);
    await requireJobQuota(creator, id);
    const trace = readTraceContext(context.req.raw.headers);
    const secrets = { input: secret, storage: null, notification: { url: "" }, webhook: "" };
    await startJob(context.env, {
      id,
      accountId: account.id,
      createdAt: Date.now(),
      input,
      // A probe stores nothing.
      storage: { kind: "builtin", origin, path: "" },
      outputs: [],
      notification: { type: "none", events: false, metadata: false },
      settings,
      share: shareOf(account),
      ...(trace ? { trace } : {}),
      sealedSecrets: await sealJobSecrets(id, secrets, sealingKeys),
      isProbe: true,
    });
    const probe = await probeOf(context, id, wait);
    return jsonResponse(context, probe, probe.completed_at === null ? 202 : 200);
  },
  getProbe: async (context) => {
    const { wait } = parseQuery(ProbeParameters, context.req.query());
    return jsonResponse(context, await probeOf(context, context.req.param("id"), wait));
  },
});

/** Returns the probe. Throws AppError(probe_not_found). */
export async function probeOf(context: Context<ClientEnv>, id: string, waitSeconds = 0): Promise<ProbeView> {
  if (!isJobId(id)) throw AppError.from(PROBE_NOT_FOUND);
  const waitMs = waitSeconds * 1000;
  const call = jobOf(context.env, id).probe(context.get("account").id, waitMs);
  const probe = await withDeadline<JobResult<ProbeView>>("probe", call, CALL_LIMIT_MS + waitMs);
  if (!probe.ok) throw AppError.from(probe.error);
  return probe.value;
}
