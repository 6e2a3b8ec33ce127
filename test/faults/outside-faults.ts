// The faults of sources, storages and webhook endpoints, row by row, and the outcome of each job.
import type { FaultRule, ProxiedRequest } from "./fault-proxy.ts";
import { all, during, inTurn, markOf, type Row, s3Error } from "./outside-rows.ts";

export const FRAMES = 90;
/** Frames of noise, some 20 MB. */
export const LARGE_FRAMES = 75;
export type JobRow = Row & {
  /** The outputs, below the row's folder; a small video by default. */
  readonly makes?: keyof typeof MAKES;
  readonly attempts?: readonly string[];
  /** The error code if the job must fail; nothing is stored then. */
  readonly fails?: string;
  readonly long?: true;
};

export const MAKES = {
  video: {
    outputs: (folder: string) => ({ "mp4:160x90": { path: `${folder}/video.mp4` } }),
    objects: ["video.mp4"],
    frames: { 0: FRAMES },
  },
  /** More than 16 MiB, so that it is uploaded in parts. */
  large: {
    outputs: (folder: string) => ({ "mp4:copy": { path: `${folder}/large.mp4` } }),
    objects: ["large.mp4"],
    frames: { 0: LARGE_FRAMES },
  },
  images: {
    outputs: (folder: string) => ({ "jpg:80x": { path: `${folder}/%d.jpg`, number: 3 } }),
    objects: ["1.jpg", "2.jpg", "3.jpg"],
    frames: {},
  },
  stream: {
    outputs: (folder: string) => ({ httpstream: { path: folder, hls: { path: "hls" }, variants: ["mp4:x90_100k"] } }),
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
const truncated = { kind: "truncate answer", afterBytes: 20_000 } as const;
export const lost = { kind: "lose answer" } as const;
const slowDown = s3Error(503, "SlowDown");

export const SOURCES: JobRow[] = [
  { name: "drip", source: inTurn(any, { kind: "drip", bytesPerSecond: 40_000 }), attempts: ONCE },
  { name: "truncated", source: inTurn(any, truncated, truncated), attempts: ONCE },
  {
    name: "always-truncated",
    source: all(any, { kind: "truncate answer", afterBytes: 1000 }),
    fails: "input_unreachable",
  },
  { name: "broken", source: inTurn(any, broken, broken), attempts: ONCE },
  { name: "busy", source: inTurn(any, busy, busy), attempts: ONCE },
  {
    name: "missing",
    source: all(any, { kind: "answer", status: 404 }),
    fails: "input_http_404",
    attempts: ["inspect.1"],
  },
  {
    name: "private",
    source: all(any, { kind: "answer", status: 401 }),
    fails: "input_http_401",
    attempts: ["inspect.1"],
  },
  {
    name: "moved",
    source: inTurn(any, { kind: "answer", status: 302, headers: { location: `?${markOf("moved")}&again` } }),
    attempts: ONCE,
  },
  {
    name: "round",
    source: all(any, { kind: "answer", status: 302, headers: { location: `?${markOf("round")}` } }),
    fails: "input_unreachable",
  },
  { name: "expires", source: inTurn(any, truncated, refused), attempts: ["inspect.1", "inspect.2", "encode.1"] },
  { name: "silent", source: inTurn(any, { kind: "hang answer", afterBytes: 20_000 }), attempts: ONCE, long: true },
];

export const STORAGES: JobRow[] = [
  { name: "s-broken", s3: inTurn(isPut, s3Error(500, "InternalError"), slowDown), attempts: ONCE },
  { name: "s-slow", s3: inTurn(isPut, { kind: "stall", ms: 5000 }), attempts: ONCE },
  { name: "s-reset", s3: inTurn(isPut, { kind: "reset", afterBytes: 5000 }), attempts: ONCE },
  { name: "s-storm", s3: during(30_000, any, slowDown), attempts: ONCE, long: true },
  { name: "s-lost", s3: inTurn(isPut, lost), attempts: ONCE },
  { name: "s-denied", s3: all(isPut, s3Error(403, "AccessDenied")), fails: "storage_denied", attempts: ONCE },
  { name: "s-none", s3: all(isPut, s3Error(404, "NoSuchBucket")), fails: "storage_bucket_not_found", attempts: ONCE },
  {
    name: "s-elsewhere",
    s3: all(isPut, s3Error(307, "TemporaryRedirect")),
    fails: "storage_region_not_valid",
    attempts: ONCE,
  },
  { name: "s-skewed", s3: inTurn(isPut, s3Error(400, "RequestTimeTooSkewed")), attempts: ONCE },
  { name: "s-expired", s3: inTurn(isPut, s3Error(403, "AccessDenied", "Request has expired")), attempts: ONCE },
  {
    name: "s-images",
    makes: "images",
    s3: inTurn(isPut, slowDown, lost, s3Error(403, "ExpiredToken")),
    attempts: ONCE,
  },
  {
    name: "s-stream",
    makes: "stream",
    s3: both(inTurn(isPlaylist, lost, s3Error(403, "ExpiredToken")), inTurn(isPut, slowDown, { kind: "reset" }, lost)),
    attempts: ONCE,
  },
  { name: "l-begin", makes: "large", s3: inTurn(isBegin, slowDown, broken), attempts: ONCE },
  {
    name: "l-parts",
    makes: "large",
    s3: inTurn(isPart, { kind: "reset", afterBytes: 100_000 }, lost, s3Error(403, "ExpiredToken")),
    attempts: ONCE,
  },
  { name: "l-complete", makes: "large", s3: inTurn(isComplete, lost), attempts: ONCE },
  { name: "l-lies", makes: "large", s3: inTurn(isComplete, { ...s3Error(200, "InternalError") }), attempts: ONCE },
  {
    name: "l-blank",
    makes: "large",
    s3: inTurn(isComplete, { kind: "answer", status: 200, body: "   " }),
    attempts: ONCE,
  },
  {
    name: "l-part-gone",
    makes: "large",
    s3: both(inTurn(isComplete, s3Error(400, "InvalidPart")), inTurn(isAbort, slowDown, lost)),
    attempts: [...ONCE, "encode.2"],
  },
];

export const WEBHOOKS: JobRow[] = [
  { name: "w-broken", webhook: inTurn(any, broken), attempts: ONCE },
  { name: "w-huge", webhook: inTurn(any, { ...broken, body: "x".repeat(8_000_000) }), attempts: ONCE },
  { name: "w-lost", webhook: inTurn(any, lost), attempts: ONCE },
  { name: "w-reset", webhook: inTurn(any, { kind: "reset" }), attempts: ONCE },
  { name: "w-hangs", webhook: inTurn(any, { kind: "stall", ms: 30_000 }), attempts: ONCE },
  { name: "w-endless", webhook: all(any, { kind: "hang answer", afterBytes: 1 }), attempts: ONCE },
  {
    name: "w-moved",
    webhook: inTurn(any, { kind: "answer", status: 302, headers: { location: "/elsewhere" } }),
    attempts: ONCE,
  },
];
