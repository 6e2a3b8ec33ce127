// The settings of an instance of a cluster (docs/cluster.md).
import ipaddr from "ipaddr.js";
import * as z from "zod";
import type { ClusterSettings } from "../home/service-settings.ts";

/** Variables with the endpoint and the credentials of a cluster's bucket, as all tools of S3 name them. */
export const BUCKET_VARIABLES = [
  "AWS_ENDPOINT_URL",
  "AWS_REGION",
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
];

const PRIVATE = new Set(["private", "uniqueLocal", "loopback", "linkLocal", "carrierGradeNat"]);

function isPrivateEndpoint(text: string): boolean {
  const [, v6, v4, port] = /^(?:\[(.+)\]|([\d.]+)):(\d{1,5})$/.exec(text) ?? [];
  const address = v6 ?? v4 ?? "";
  return ipaddr.isValid(address) && PRIVATE.has(ipaddr.parse(address).range()) && Number(port) <= 65535;
}

export const ClusterVariables = {
  COPRA_CLUSTER: z
    .string()
    .regex(/^s3:\/\/[a-z0-9][a-z0-9.-]+(\/[\w.-]+)+$/, "--cluster (COPRA_CLUSTER) must be s3://<bucket>/<prefix>")
    .optional(),
  COPRA_CLUSTER_ADDRESS: z
    .string()
    .refine(
      isPrivateEndpoint,
      "--cluster-address (COPRA_CLUSTER_ADDRESS) must be an address of this machine in a private network and a port, " +
        "such as 10.0.0.5:8790: the instances talk unencrypted",
    )
    .optional(),
  COPRA_CLUSTER_ADVERTISE: z
    .string()
    .regex(/^[\w.-]+:\d{1,5}$/, "--cluster-advertise (COPRA_CLUSTER_ADVERTISE) must be <host>:<port>")
    .optional(),
};

type Chosen = z.infer<z.ZodObject<typeof ClusterVariables>> & {
  readonly COPRA_PUBLIC_URL?: string | undefined;
  readonly COPRA_S3_URL?: string | undefined;
};

/** Throws a message for people that names what a cluster lacks. */
export function clusterOf(
  chosen: Chosen,
  env: Readonly<Record<string, string | undefined>>,
): ClusterSettings | undefined {
  const { COPRA_CLUSTER: bucket, COPRA_CLUSTER_ADDRESS: address, COPRA_CLUSTER_ADVERTISE: advertise } = chosen;
  const { COPRA_PUBLIC_URL, COPRA_S3_URL } = chosen;
  if (bucket === undefined) {
    if (address === undefined) return undefined;
    throw new Error("--cluster-address is for an instance of a cluster: give its bucket by --cluster");
  }
  if (address === undefined) {
    throw new Error(
      "--cluster needs --cluster-address, such as 10.0.0.5:8790: the other instances reach this one there",
    );
  }
  if (COPRA_PUBLIC_URL === undefined) {
    throw new Error("--cluster needs --public-url: the URL of the balancer, the same for all instances");
  }
  if (COPRA_S3_URL !== undefined) {
    throw new Error("--s3-url is not for a cluster, which runs no S3 server: set SCRATCH_ENDPOINT and its variables");
  }
  const aws = Object.fromEntries(BUCKET_VARIABLES.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
  const missing = ["AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].filter((name) => !aws[name]);
  if (missing.length > 0) throw new Error(`--cluster needs the bucket's credentials in ${missing.join(", ")}`);
  return { bucket, address, advertise, aws };
}
