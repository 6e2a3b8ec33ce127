// Tests of requests: retries and errors.
import { Copra } from "../index.ts";
import { type Case, collected, equal, ofCopraError, request, scenario } from "./scenario.ts";

export const REQUEST_CASES = Object.entries<Case[1]>({
  "a new job is requested again after 503, 429 and a lost connection, always with the same key": async (origin) => {
    const { copra, requests } = scenario(origin, "flaky");
    equal((await copra.jobs.create(request)).id, "job");
    const sent = await requests();
    equal(
      sent.map(({ method, path }) => `${method} ${path}`),
      Array(4).fill("POST /v2/jobs"),
    );
    equal(new Set(sent.map(({ headers }) => headers["idempotency-key"])).size, 1);
    equal(sent[0]?.headers.authorization, `Basic ${btoa("k-key:")}`);
  },
  "an error has the status, the code, the field and the request of the response": async (origin) => {
    const { copra, requests } = scenario(origin, "invalid");
    equal(await ofCopraError(copra.jobs.create(request)), {
      status: 400,
      code: "input_url_not_valid",
      field: "input.url",
      requestId: "r-1",
      retryable: false,
      message: "`input.url` is missing",
    });
    equal((await requests()).length, 1);
  },
  "a page of a proxy and no response are errors that may be retried, and end": async (origin) => {
    const { url } = scenario(origin, "proxy");
    const once = new Copra({ url, key: "k", retries: 1 });
    const { status, code, retryable } = await ofCopraError(once.jobs.get("job"));
    equal([status, code, retryable], [502, "response_not_valid", true]);
    const blocked = await ofCopraError(new Copra({ url: scenario(origin, "blocked").url, key: "k" }).jobs.get("job"));
    equal([blocked.status, blocked.retryable, blocked.message?.includes("error code: 1010")], [403, false, true]);
    const nowhere = new Copra({ url: "http://127.0.0.1:9", key: "k", retries: 0 });
    const lost = await ofCopraError(nowhere.jobs.get("job"));
    equal([lost.status, lost.code, lost.retryable], [0, "network_error", true]);
  },
  "a request that must not be carried out twice is repeated only if it was not carried out": async (origin) => {
    const { copra, requests } = scenario(origin, "busy");
    equal((await ofCopraError(copra.jobs.retry("job"))).status, 500);
    equal((await requests()).length, 2);
  },
  "retries of the jobs of a filter, and new uploads, are not repeated when they may have been carried out": async (
    origin,
  ) => {
    for (const [call, expected] of [
      [(copra: Copra) => copra.jobs.cancelMany({ filter: { q: "a" } }), 3],
      [(copra: Copra) => copra.jobs.retryMany({ filter: { q: "a" } }), 2],
      [(copra: Copra) => copra.uploads.create({ name: "a", size: 1 }), 2],
      [(copra: Copra) => copra.jobs.cancelMany({ ids: ["job"] }), 3],
    ] as const) {
      const { url, requests } = scenario(origin, "busy");
      equal((await ofCopraError(call(new Copra({ url, key: "k", retries: 2 })))).status, 500);
      equal((await requests()).length, expected);
    }
  },
  "an aborted request rejects with the reason, while it waits for the next try, too": async (origin) => {
    const { copra } = scenario(origin, "down");
    const reason = new Error("enough");
    const abort = new AbortController();
    setTimeout(() => abort.abort(reason), 50);
    equal(await copra.jobs.get("job", { signal: abort.signal }).catch((error) => error === reason), true);
    const aborted = copra.jobs.get("job", { signal: abort.signal }).catch((error) => error === reason);
    equal(await aborted, true);
  },
  "lists are read page by page, with the filter": async (origin) => {
    const { copra, requests } = scenario(origin, "pages");
    const filter = { status: ["job.failed", "job.aborted"], q: "a b", limit: 2 } as const;
    equal(
      (await collected(copra.jobs.list(filter))).map(({ id }) => id),
      ["1", "2", "3"],
    );
    equal((await collected(copra.jobs.list(filter), 1)).length, 1);
    equal(
      (await requests()).map(({ path }) => path),
      [
        "/v2/jobs?status=job.failed%2Cjob.aborted&q=a+b&limit=2",
        "/v2/jobs?status=job.failed%2Cjob.aborted&q=a+b&limit=2&cursor=c2",
        "/v2/jobs?status=job.failed%2Cjob.aborted&q=a+b&limit=2",
      ],
    );
  },
  "a response that is lost while it is read is requested again": async (origin) => {
    const { copra, requests } = scenario(origin, "halved");
    equal((await copra.jobs.get("job")).id, "job");
    equal((await requests()).length, 2);
  },
});
