// The URLs of a stack, and the networks that its nodes and its control plane may reach. They are fixed for the local
// system (npm start), and chosen by the operator for `copra serve`.
import { readFileSync } from "node:fs";
import * as z from "zod";
import { type AllowPrivate, withOrigins } from "#shared/network/address-policy.ts";
import { origin } from "./constants.ts";

/** An instance of a cluster (local/control-plane/cluster/). */
const ClusterSettings = z.object({
  /** `s3://bucket/prefix` */
  bucket: z.string(),
  /** `address:port` at which this instance listens for the others. */
  address: z.string(),
  /** `host:port` at which the others reach this instance; absent: `address`. */
  advertise: z.string().optional(),
  /** The variables AWS_… with the endpoint and the credentials of the bucket. */
  aws: z.record(z.string(), z.string()),
});
export type ClusterSettings = z.infer<typeof ClusterSettings>;

export const ServiceSettings = z.object({
  /** The address at which the API and the S3 server listen. */
  bind: z.string(),
  /** The URL of the API for clients and nodes, without a slash at its end; null: the loopback interface. */
  publicUrl: z.string().nullable(),
  /** Addresses and networks of proxies whose X-Forwarded-For states the client's address. */
  trustedProxies: z.array(z.string()),
  /** The URL of the S3 server for nodes; null: the loopback interface. */
  s3Url: z.string().nullable(),
  /** True if the stack runs the S3 server. */
  ownS3: z.boolean(),
  /** Networks that the URLs of requests may lead to, in addition to public networks. */
  allowPrivate: z.enum(["none", "loopback", "all"]),
  /** The sandbox of ffmpeg on the nodes of this machine. */
  isolation: z.enum(["required", "best-effort"]),
  /** Further variables and secrets of the Worker. */
  variables: z.record(z.string(), z.string()),
  /** True if requests from and to the control plane go through an emulation of Cloudflare's edge. */
  isEdge: z.boolean().optional(),
  /** Absent: all data is on this machine. */
  cluster: ClusterSettings.optional(),
});
export type ServiceSettings = z.infer<typeof ServiceSettings>;

/** The settings of the local system, for people at this machine. */
export const LOCAL_SERVICE: ServiceSettings = {
  bind: "127.0.0.1",
  publicUrl: null,
  trustedProxies: [],
  s3Url: null,
  ownS3: true,
  allowPrivate: "loopback",
  isolation: "best-effort",
  variables: {},
};

/** Carries the settings to the S3 server, which needs no secrets. */
const VARIABLE = "COPRA_SERVICE";
/** The variable with the file descriptor from which the control plane reads the settings, with the Worker's secrets. */
const FD_VARIABLE = "COPRA_SERVICE_FD";

export const serviceVariable = (service: ServiceSettings): Record<string, string> => ({
  [VARIABLE]: JSON.stringify({ ...service, variables: {}, cluster: undefined }),
});

export const serviceSecret = (service: ServiceSettings): { readonly variable: string; readonly text: string } => ({
  variable: FD_VARIABLE,
  text: JSON.stringify(service),
});

/** The settings of a process that a stack has started. Without the variable: the local system. */
export function serviceOf(env: Readonly<Record<string, string | undefined>>): ServiceSettings {
  const fd = env[FD_VARIABLE];
  const text = fd === undefined ? env[VARIABLE] : readFileSync(Number(fd), "utf8");
  return text === undefined ? LOCAL_SERVICE : ServiceSettings.parse(JSON.parse(text));
}

/** The origin of a stack's S3 server, whose test bucket anybody may read. */
export const s3Origins = ({ s3Url, ownS3 }: ServiceSettings, s3Port: number): string[] =>
  ownS3 ? [new URL(s3Url ?? origin(s3Port)).origin] : [];

/** The addresses that requests to the stack's control plane may name. */
export const allowPrivateOf = (service: ServiceSettings, port: number, s3Port: number): AllowPrivate =>
  withOrigins(service.allowPrivate, [new URL(service.publicUrl ?? origin(port)).origin, ...s3Origins(service, s3Port)]);
