// What the world outside does wrong, row by row, and what becomes of the job.
import type { FaultRule, ProxiedRequest } from "./fault-proxy.ts";
import { all, during, inTurn, markOf, type Row, s3Error } from "./outside-rows.ts";

export const FRAMES = 90;
/** Of noise: some 20 MB. */
export const LARGE_FRAMES = 75;
export type JobRow = Row & {
  /** What the outputs are, below the row's folder: a small film unless it is said otherwise. */
  readonly makes?: keyof typeof MAKES;
  readonly grants?: readonly string[];
  /** The failure's code, where the job is to fail; nothing is stored then. */
  readonly fails?: string;
  readonly long?: true;
};

export const MAKES = {
  film: {
    outputs: (folder: string) => ({ "mp4:160x90": { path: `${folder}/film.mp4` } }),
    objects: ["film.mp4"],
    frames: { 0: FRAMES },
  },
  /** More than 16 MiB: it goes up in parts. */
  large: {
    outputs: (folder: string) => ({ "mp4:copy": { path: `${folder}/large.mp4` } }),
    objects: ["large.mp4"],
    frames: { 0: LARGE_FRAMES },
  },
  pictures: {
    outputs: (folder: string) => ({ "jpg:80x": { path: `${folder}/%d.jpg`, number: 3 } }),
    objects: ["1.jpg", "2.jpg", "3.jpg"],
    frames: {},
  },
  stream: {
    outputs: (folder: string) => ({
      httpstream: { path: folder, hls: { path: "hls" }, variants: ["mp4:x90_100k"] },
    }),
    objects: null,
    frames: {},
  },
} as const;

export const any = (): boolean => true;
const isPut = ({ method }: ProxiedRequest): boolean => method === "PUT";
export const isPart = (request: ProxiedRequest): boolean => isPut(request) && request.path.includes("partNumber=");
const isBegin = ({ method, path }: ProxiedRequest): boolean => method === "POST" && /[?&]uploads/.test(path);
const isComplete = ({ method, path }: ProxiedRequest): boolean => method === "POST" && path.includes("uploadId=");
const isAbort = ({ method }: ProxiedRequest): boolean => method === "DELETE";
const isPlaylist = (request: ProxiedRequest): boolean => isPut(request) && request.path.includes("master.m3u8");
const both =
  (...rules: FaultRule[]): FaultRule =>
  (request) =>
    rules.map((rule) => rule(request)).find((fault) => fault !== null) ?? null;

const ONCE = ["inspect.1", "encode.1"];
const busy = { kind: "answer", status: 429, headers: { "retry-after": "2" } } as const;
const broken = { kind: "answer", status: 500 } as const;
const refused = { kind: "answer", status: 403 } as const;
const cut = { kind: "cut answer", afterBytes: 20_000 } as const;
export const lost = { kind: "lose answer" } as const;
const slowDown = s3Error(503, "SlowDown");

export const SOURCES: JobRow[] = [
  { name: "drip", source: inTurn(any, { kind: "drip", bytesPerSecond: 40_000 }), grants: ONCE },
  { name: "cut", source: inTurn(any, cut, cut), grants: ONCE },
  { name: "cut-always", source: all(any, { kind: "cut answer", afterBytes: 1000 }), fails: "input_unreachable" },
  { name: "broken", source: inTurn(any, broken, broken), grants: ONCE },
  { name: "busy", source: inTurn(any, busy, busy), grants: ONCE },
  {
    name: "missing",
    source: all(any, { kind: "answer", status: 404 }),
    fails: "input_http_404",
    grants: ["inspect.1"],
  },
  {
    name: "private",
    source: all(any, { kind: "answer", status: 401 }),
    fails: "input_http_401",
    grants: ["inspect.1"],
  },
  {
    name: "moved",
    source: inTurn(any, { kind: "answer", status: 302, headers: { location: `?${markOf("moved")}&again` } }),
    grants: ONCE,
  },
  {
    name: "round",
    source: all(any, { kind: "answer", status: 302, headers: { location: `?${markOf("round")}` } }),
    fails: "input_unreachable",
  },
  { name: "expires", source: inTurn(any, cut, refused), grants: ["inspect.1", "inspect.2", "encode.1"] },
  { name: "silent", source: inTurn(any, { kind: "hang answer", afterBytes: 20_000 }), grants: ONCE, long: true },
];

export const STORAGES: JobRow[] = [
  { name: "s-broken", s3: inTurn(isPut, s3Error(500, "InternalError"), slowDown), grants: ONCE },
  { name: "s-slow", s3: inTurn(isPut, { kind: "stall", ms: 5000 }), grants: ONCE },
  { name: "s-reset", s3: inTurn(isPut, { kind: "reset", afterBytes: 5000 }), grants: ONCE },
  { name: "s-storm", s3: during(30_000, any, slowDown), grants: ONCE, long: true },
  { name: "s-lost", s3: inTurn(isPut, lost), grants: ONCE },
  { name: "s-denied", s3: all(isPut, s3Error(403, "AccessDenied")), fails: "storage_denied", grants: ONCE },
  { name: "s-none", s3: all(isPut, s3Error(404, "NoSuchBucket")), fails: "storage_bucket_not_found", grants: ONCE },
  {
    name: "s-elsewhere",
    s3: all(isPut, s3Error(307, "TemporaryRedirect")),
    fails: "storage_region_not_valid",
    grants: ONCE,
  },
  { name: "s-skewed", s3: inTurn(isPut, s3Error(400, "RequestTimeTooSkewed")), grants: ONCE },
  { name: "s-expired", s3: inTurn(isPut, s3Error(403, "AccessDenied", "Request has expired")), grants: ONCE },
  {
    name: "s-pictures",
    makes: "pictures",
    s3: inTurn(isPut, slowDown, lost, s3Error(403, "ExpiredToken")),
    grants: ONCE,
  },
  {
    name: "s-stream",
    makes: "stream",
    s3: both(inTurn(isPlaylist, lost, s3Error(403, "ExpiredToken")), inTurn(isPut, slowDown, { kind: "reset" }, lost)),
    grants: ONCE,
  },
  { name: "l-begin", makes: "large", s3: inTurn(isBegin, slowDown, broken), grants: ONCE },
  {
    name: "l-parts",
    makes: "large",
    s3: inTurn(isPart, { kind: "reset", afterBytes: 100_000 }, lost, s3Error(403, "ExpiredToken")),
    grants: ONCE,
  },
  { name: "l-complete", makes: "large", s3: inTurn(isComplete, lost), grants: ONCE },
  { name: "l-lies", makes: "large", s3: inTurn(isComplete, { ...s3Error(200, "InternalError") }), grants: ONCE },
  {
    name: "l-blank",
    makes: "large",
    s3: inTurn(isComplete, { kind: "answer", status: 200, body: "   " }),
    grants: ONCE,
  },
  {
    name: "l-part-gone",
    makes: "large",
    s3: both(inTurn(isComplete, s3Error(400, "InvalidPart")), inTurn(isAbort, slowDown, lost)),
    grants: [...ONCE, "encode.2"],
  },
];

export const WEBHOOKS: JobRow[] = [
  { name: "w-broken", webhook: inTurn(any, broken), grants: ONCE },
  { name: "w-huge", webhook: inTurn(any, { ...broken, body: "x".repeat(8_000_000) }), grants: ONCE },
  { name: "w-lost", webhook: inTurn(any, lost), grants: ONCE },
  { name: "w-reset", webhook: inTurn(any, { kind: "reset" }), grants: ONCE },
  { name: "w-hangs", webhook: inTurn(any, { kind: "stall", ms: 30_000 }), grants: ONCE },
  { name: "w-endless", webhook: all(any, { kind: "hang answer", afterBytes: 1 }), grants: ONCE },
  {
    name: "w-moved",
    webhook: inTurn(any, { kind: "answer", status: 302, headers: { location: "/elsewhere" } }),
    grants: ONCE,
  },
];
