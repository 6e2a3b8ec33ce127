// What the client must do in every runtime: Node runs these cases, and so do workerd and a browser. They need only the
// platform of the web, and a server that behaves as badly as the network does (test/services/client-service.ts).
import { Copra, CopraError, JobFailed, verifyWebhook, WebhookError } from "../index.ts";

type Case = readonly [title: string, run: (origin: string) => Promise<void>];

const request = {
  input: { url: "https://example.com/a.mp4" },
  storage: { service: "coconut" },
  outputs: { "mp4:720p": { path: "a.mp4" } },
  notification: { type: "http", url: "https://example.com/hook" },
} as const;

/** A client of one scenario of the server, which counts requests apart for each name. */
function scenario(origin: string, name: string) {
  const url = `${origin}/${name}/${crypto.getRandomValues(new Uint32Array(2)).join("")}`;
  const requests = async (): Promise<
    { method: string; path: string; headers: Record<string, string>; size: number }[]
  > => (await fetch(`${url}/requests`)).json();
  return { copra: new Copra({ url: `${url}/`, key: "k-key" }), requests, url };
}

const ofCopraError = async (promise: Promise<unknown>): Promise<Partial<CopraError>> => {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof CopraError)) throw new Error(`Not a CopraError: ${error}`);
  const { status, code, field, requestId, retryable, message } = error;
  return { status, code, field, requestId, retryable, message };
};

function equal(actual: unknown, expected: unknown): void {
  const [one, other] = [actual, expected].map((value) => JSON.stringify(value, null, 1));
  if (one !== other) throw new Error(`Expected ${other}\nbut got ${one}`);
}

async function collected<Value>(values: AsyncIterable<Value>, most = Number.POSITIVE_INFINITY): Promise<Value[]> {
  const all: Value[] = [];
  for await (const value of values) if (all.push(value) >= most) break;
  return all;
}

const requests: readonly Case[] = [
  [
    "a new job is requested again after 503, 429 and a lost connection, always with the same key",
    async (origin) => {
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
  ],
  [
    "an error has the status, the code, the field and the request of the response",
    async (origin) => {
      const { copra, requests } = scenario(origin, "invalid");
      equal(await ofCopraError(copra.jobs.create(request)), {
        ...{ status: 400, code: "input_url_not_valid", field: "input.url", requestId: "r-1", retryable: false },
        message: "`input.url` is missing",
      });
      equal((await requests()).length, 1);
    },
  ],
  [
    "a page of a proxy and no response are errors that may be retried, and end",
    async (origin) => {
      const { url } = scenario(origin, "proxy");
      const once = new Copra({ url, key: "k", retries: 1 });
      const { status, code, retryable } = await ofCopraError(once.jobs.get("job"));
      equal([status, code, retryable], [502, "response_not_valid", true]);
      const nowhere = new Copra({ url: "http://127.0.0.1:9", key: "k", retries: 0 });
      const lost = await ofCopraError(nowhere.jobs.get("job"));
      equal([lost.status, lost.code, lost.retryable], [0, "network_error", true]);
    },
  ],
  [
    "a request that must not be carried out twice is repeated only if it was not carried out",
    async (origin) => {
      const { copra, requests } = scenario(origin, "busy");
      equal((await ofCopraError(copra.jobs.retry("job"))).status, 500);
      equal((await requests()).length, 2);
    },
  ],
  [
    "an aborted request rejects with the reason, while it waits for the next try, too",
    async (origin) => {
      const { copra } = scenario(origin, "down");
      const reason = new Error("enough");
      const abort = new AbortController();
      setTimeout(() => abort.abort(reason), 50);
      equal(await copra.jobs.get("job", { signal: abort.signal }).catch((error) => error === reason), true);
      const aborted = copra.jobs.get("job", { signal: abort.signal }).catch((error) => error === reason);
      equal(await aborted, true);
    },
  ],
  [
    "lists are read page by page, with the filter",
    async (origin) => {
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
  ],
];

const bodies: readonly Case[] = [
  [
    "a response that is lost while it is read is requested again",
    async (origin) => {
      const { copra, requests } = scenario(origin, "halved");
      equal((await copra.jobs.get("job")).id, "job");
      equal((await requests()).length, 2);
    },
  ],
  [
    "an upload whose parts are refused ends at once, and leaves the rest alone",
    async (origin) => {
      const { copra, requests } = scenario(origin, "refused");
      const error = await ofCopraError(copra.uploads.send(new Blob([CONTENT]), { name: "a", concurrency: 1 }));
      equal([error.status, error.code], [409, "upload_state_conflict"]);
      equal(
        (await requests()).map(({ method }) => method),
        ["POST", "PUT"],
      );
    },
  ],
];

const streams: readonly Case[] = [
  [
    "a job is followed to its end over connections that are lost",
    async (origin) => {
      const { copra } = scenario(origin, "follow");
      const seen = await collected(copra.jobs.follow("job"));
      equal(
        seen.map(({ progress }) => progress),
        ["0%", "50%", "50%", "100%"],
      );
      equal((await copra.jobs.wait("job")).status, "job.completed");
    },
  ],
  [
    "a job with too many followers is polled",
    async (origin) => {
      const { url } = scenario(origin, "crowded");
      const copra = new Copra({ url, key: "k", retries: 0 });
      equal(
        (await collected(copra.jobs.events("job"))).map(({ event }) => event),
        ["job", "end"],
      );
    },
  ],
  [
    "waiting for a job that fails throws its errors",
    async (origin) => {
      const { copra } = scenario(origin, "failing");
      const error = await copra.jobs.wait("job").catch((reason: unknown) => reason);
      if (!(error instanceof JobFailed)) throw new Error(`Not a JobFailed: ${error}`);
      equal(error.message, "The job job has the status job.failed; mp4: No space");
    },
  ],
  [
    "events of the account arrive once and in order, also over lost connections",
    async (origin) => {
      const { copra, requests } = scenario(origin, "events");
      const events = await collected(copra.events({ lastEventId: "2" }), 6);
      equal(
        events.map(({ id }) => id),
        ["3", "4", "5", "6", "7", "8"],
      );
      equal(
        (await requests()).map(({ headers }) => headers["last-event-id"]),
        ["2", "4", "6"],
      );
    },
  ],
  [
    "a connection without a sign of life is replaced",
    async (origin) => {
      const { copra, requests } = scenario(origin, "silent");
      const reconnects: unknown[] = [];
      const options = { silenceSeconds: 0.2, onReconnect: (error: unknown) => reconnects.push(error) };
      equal(
        (await collected(copra.events(options), 1)).map(({ event }) => event),
        ["gap"],
      );
      equal([(await requests()).length, reconnects.length], [2, 1]);
    },
  ],
];

/** 2.5 parts of 4 bytes. */
const CONTENT = new Uint8Array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);

const uploads: readonly Case[] = [
  [
    "a file is sent in parts, of which those that fail are sent again",
    async (origin) => {
      const { copra, requests } = scenario(origin, "upload");
      const sent: number[] = [];
      const upload = await copra.uploads.send(new Blob([CONTENT]), {
        name: "a",
        onProgress: (_, bytes) => sent.push(bytes),
      });
      equal(upload.status, "completed");
      equal([sent[0], sent.at(-1), sent.length], [0, 10, 4]);
      const parts = (await requests()).filter(({ method }) => method === "PUT");
      equal(parts.map(({ path, size }) => `${path} ${size}`).sort(), [
        "/v2/uploads/u/parts/1 4",
        "/v2/uploads/u/parts/2 4",
        "/v2/uploads/u/parts/2 4",
        "/v2/uploads/u/parts/3 2",
      ]);
    },
  ],
  [
    "an upload that was interrupted continues with the parts that are missing, from a stream, too",
    async (origin) => {
      const { copra, requests } = scenario(origin, "resumed");
      const stream = (): ReadableStream<Uint8Array> => new Blob([CONTENT]).stream();
      equal((await copra.uploads.send(stream(), { id: "u", size: 10 })).status, "completed");
      equal(
        (await requests()).map(({ method, path }) => `${method} ${path}`),
        ["GET /v2/uploads/u", "PUT /v2/uploads/u/parts/3", "POST /v2/uploads/u/complete"],
      );
      const other = await copra.uploads.send(new Blob(["abc"]), { id: "u" }).catch((error: Error) => error.message);
      equal(other, "The upload is for 10 bytes, and the file has 3");
    },
  ],
];

// The example of the specification (github.com/standard-webhooks/standard-webhooks), with a body of ours.
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const NOW = 1614265330_000;
const HEADERS = {
  "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
  "webhook-timestamp": "1614265330",
  "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
};
const BODY = '{"test": 2432232314}';
const OTHER = `whsec_${btoa("another secret of 24 byte")}`;

const webhooks: readonly Case[] = [
  [
    "a webhook is verified from a Request, Headers, headers of Node, text and bytes, with one of several secrets",
    async () => {
      const expected = { test: 2432232314 };
      const options = { now: NOW };
      const init = { method: "POST", headers: HEADERS, body: BODY };
      equal(await verifyWebhook(new Request("https://a.test/", init), SECRET, options), expected);
      equal(await verifyWebhook({ headers: new Headers(HEADERS), body: BODY }, [OTHER, SECRET], options), expected);
      const bytes = new TextEncoder().encode(BODY);
      equal(await verifyWebhook({ headers: HEADERS, body: bytes }, SECRET, options), expected);
      const rotated = { ...HEADERS, "webhook-signature": `v1,AAAA v2,x ${HEADERS["webhook-signature"]}` };
      equal(await verifyWebhook({ headers: rotated, body: BODY }, SECRET, { now: NOW + 299_000 }), expected);
    },
  ],
  [
    "a webhook with another body, time, id, secret or signature is refused",
    async () => {
      const rows: [Partial<Record<keyof typeof HEADERS, string>>, string, string, number][] = [
        [{}, `${BODY} `, SECRET, NOW],
        [{}, BODY, OTHER, NOW],
        [{}, BODY, "", NOW],
        [{}, BODY, SECRET, NOW + 301_000],
        [{}, BODY, SECRET, NOW - 301_000],
        [{ "webhook-id": "msg_1" }, BODY, SECRET, NOW],
        [{ "webhook-id": "" }, BODY, SECRET, NOW],
        [{ "webhook-timestamp": "1614265331" }, BODY, SECRET, NOW],
        [{ "webhook-timestamp": "now" }, BODY, SECRET, NOW],
        [{ "webhook-signature": "v1,%%%" }, BODY, SECRET, NOW],
        [{ "webhook-signature": "v1," }, BODY, SECRET, NOW],
        [{ "webhook-signature": HEADERS["webhook-signature"].replace("v1", "v1a") }, BODY, SECRET, NOW],
      ];
      for (const [changes, body, secret, now] of rows) {
        const verified = verifyWebhook({ headers: { ...HEADERS, ...changes }, body }, secret, { now });
        const error = await verified.catch((reason: unknown) => reason);
        if (!(error instanceof WebhookError))
          throw new Error(`Not refused: ${JSON.stringify([changes, body, secret, now])}`);
      }
    },
  ],
];

export const CASES: readonly Case[] = [...requests, ...bodies, ...streams, ...uploads, ...webhooks];
