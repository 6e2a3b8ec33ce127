// How a stack is reachable, and what its nodes and its control plane may reach: fixed for the local system (npm start),
// chosen by the operator for `copra serve`.
import { readFileSync } from "node:fs";
import * as z from "zod";
import { type AllowPrivate, withOrigins } from "#shared/network/address-policy.ts";
import { origin } from "./constants.ts";

export const ServiceSettings = z.object({
  /** The address at which the API and the S3 server listen. */
  bind: z.string(),
  /** The URL under which clients and nodes reach the API; null: the loopback interface. Without a slash at its end. */
  publicUrl: z.string().nullable(),
  /** Addresses and networks of proxies whose X-Forwarded-For states the client's address. */
  trustedProxies: z.array(z.string()),
  /** The URL under which nodes reach the S3 server; null: the loopback interface. */
  s3Url: z.string().nullable(),
  /** Whether to run the S3 server. */
  ownS3: z.boolean(),
  /** Networks that the URLs of requests may lead to, beside public ones. */
  allowPrivate: z.enum(["none", "loopback", "all"]),
  /** The sandbox of ffmpeg on the nodes of this machine. */
  isolation: z.enum(["required", "best-effort"]),
  /** Further variables and secrets of the Worker. */
  variables: z.record(z.string(), z.string()),
  /** True if requests from and to the control plane pass what Cloudflare's edge does to them. */
  isEdge: z.boolean().optional(),
});
export type ServiceSettings = z.infer<typeof ServiceSettings>;

/** The local system: for whoever sits at this machine. */
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
/** The file descriptor from which the control plane reads the settings, with the Worker's secrets. */
const FD_VARIABLE = "COPRA_SERVICE_FD";

export const serviceVariable = (service: ServiceSettings): Record<string, string> => ({
  [VARIABLE]: JSON.stringify({ ...service, variables: {} }),
});

export const serviceSecret = (service: ServiceSettings): { readonly variable: string; readonly text: string } => ({
  variable: FD_VARIABLE,
  text: JSON.stringify(service),
});

/** Those of a process that a stack has started; those of the local system without the variable. */
export function serviceOf(env: Readonly<Record<string, string | undefined>>): ServiceSettings {
  const fd = env[FD_VARIABLE];
  const text = fd === undefined ? env[VARIABLE] : readFileSync(Number(fd), "utf8");
  return text === undefined ? LOCAL_SERVICE : ServiceSettings.parse(JSON.parse(text));
}

/** Where the S3 server of a stack is reached, whose test bucket anybody may read. */
export const s3Origins = ({ s3Url, ownS3 }: ServiceSettings, s3Port: number): string[] =>
  ownS3 ? [new URL(s3Url ?? origin(s3Port)).origin] : [];

/** What requests to the stack's control plane may name. */
export const allowPrivateOf = (service: ServiceSettings, port: number, s3Port: number): AllowPrivate =>
  withOrigins(service.allowPrivate, [new URL(service.publicUrl ?? origin(port)).origin, ...s3Origins(service, s3Port)]);
