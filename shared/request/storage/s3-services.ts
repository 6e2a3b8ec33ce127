// The services whose buckets speak S3, by their names in requests: fields, values, addresses, as they document them.
import * as z from "zod";
import { text } from "../parse-section.ts";
import { ACL, aclOf, anyToken, CLASS, classOf } from "./object-options.ts";
import { type S3Service, s3Bodies, s3Service } from "./s3-service.ts";

const region = text(64, ", such as us-east-1")
  .regex(/^[a-z0-9-]+$/i, "must be a region name such as us-east-1")
  .describe("The bucket's region");
type Regional = { region: string };
const endpoint = text(1024, ": the service's address, such as https://s3.example.com").describe(
  "The service's address, http or https, without the bucket",
);

const AWS_ACLS = aclOf(
  "private",
  "public-read",
  "public-read-write",
  "authenticated-read",
  "aws-exec-read",
  "bucket-owner-read",
  "bucket-owner-full-control",
);
const STANDARD = classOf("STANDARD");

const s3 = s3Service(
  s3Bodies(
    "s3",
    "Amazon S3",
    { region },
    {
      acl: AWS_ACLS,
      storage_class: classOf(
        "STANDARD",
        "REDUCED_REDUNDANCY",
        "STANDARD_IA",
        "ONEZONE_IA",
        "INTELLIGENT_TIERING",
        "GLACIER",
        "GLACIER_IR",
        "DEEP_ARCHIVE",
      ),
    },
  ),
  ({ region }: Regional) => ({ endpoint: `https://s3.${region}.${awsDomain(region)}`, region }),
);

/** Regions of other AWS partitions have domains of their own. */
function awsDomain(region: string): string {
  if (region.startsWith("cn-")) return "amazonaws.com.cn";
  return region.startsWith("eusc-") ? "amazonaws.eu" : "amazonaws.com";
}

const s3other = s3Service(
  s3Bodies(
    "s3other",
    "Any service that speaks S3",
    {
      endpoint,
      region: region.default("us-east-1"),
      force_path_style: z
        .boolean("must be true or false")
        .default(false)
        .describe("Whether the bucket goes into the path, not in front of the host"),
    },
    { acl: anyToken.describe(ACL), storage_class: anyToken.describe(CLASS) },
  ),
  ({
    endpoint,
    region,
    force_path_style: forcePathStyle,
  }: Regional & { endpoint: string; force_path_style: boolean }) => {
    return { endpoint, region, forcePathStyle };
  },
);

type R2Place = { account_id?: string | undefined; endpoint?: string | undefined };

const accountId = text(32).regex(/^[0-9a-f]{32}$/i, "must be the 32 hexadecimal digits of a Cloudflare account");
const r2Bodies = s3Bodies(
  "r2",
  "Cloudflare R2; its place is given by either `account_id` or `endpoint`",
  {
    account_id: accountId.optional().describe("The Cloudflare account; or give `endpoint`"),
    endpoint: endpoint.optional().describe("The bucket's S3 address without the bucket, for one in a jurisdiction"),
  },
  // R2 has no ACLs: whole buckets are public, at another address.
  { storage_class: classOf("STANDARD", "STANDARD_IA") },
);
const placedOnce = ({ account_id, endpoint }: R2Place): boolean =>
  (account_id === undefined) !== (endpoint === undefined);
const PLACED_ONCE = { path: ["account_id"], message: "give either `account_id` or `endpoint`" };
const r2 = s3Service(
  { storage: r2Bodies.storage.refine(placedOnce, PLACED_ONCE), input: r2Bodies.input.refine(placedOnce, PLACED_ONCE) },
  ({ account_id, endpoint }: R2Place) => ({
    endpoint: endpoint ?? `https://${account_id}.r2.cloudflarestorage.com`,
    region: "auto",
    forcePathStyle: true,
  }),
);

/**
 * The XML API with HMAC keys. It takes signatures of AWS, and with those the x-amz- headers in place of its own x-goog-
 * ones, which must not be mixed (Cloud Storage, Simple migration). Any region will do in a signature.
 */
const gcs = s3Service(
  s3Bodies(
    "gcs",
    "Google Cloud Storage, with HMAC keys",
    { region: region.default("auto") },
    {
      acl: aclOf(
        "private",
        "public-read",
        "public-read-write",
        "authenticated-read",
        "bucket-owner-read",
        "bucket-owner-full-control",
        "project-private",
      ),
      storage_class: classOf("STANDARD", "NEARLINE", "COLDLINE", "ARCHIVE"),
    },
  ),
  ({ region }: Regional) => ({ endpoint: "https://storage.googleapis.com", region, forcePathStyle: true }),
);

/** Clients exist that name none. A Space elsewhere fails with `storage_bucket_not_found` or `storage_denied`. */
const SPACES_REGION = "nyc3";
/** With or without the bucket in front, as the control panel shows both. */
const SPACES_HOST = /^https:\/\/(?:[a-z0-9.-]+\.)?([a-z]{3}\d)\.digitaloceanspaces\.com\/?$/i;

type SpacesPlace = { region?: string | undefined; endpoint?: string | undefined };
const regionOfHost = (address: string): string | undefined => SPACES_HOST.exec(address)?.[1]?.toLowerCase();
const spacesBodies = s3Bodies(
  "dospaces",
  "DigitalOcean Spaces",
  {
    region: region.optional().describe(`The bucket's region; that of \`endpoint\`, or ${SPACES_REGION}, unless given`),
    endpoint: text(1024)
      .refine((address) => regionOfHost(address) !== undefined, "must be as in https://nyc3.digitaloceanspaces.com")
      .optional()
      .describe("The address that the control panel shows; another way to say the region"),
  },
  { acl: aclOf("private", "public-read"), storage_class: STANDARD },
);
const saysOneRegion = ({ region, endpoint }: SpacesPlace): boolean =>
  region === undefined || endpoint === undefined || regionOfHost(endpoint) === region.toLowerCase();
const ONE_REGION = { path: ["region"], message: "must be the region that `endpoint` names; one of them is enough" };
const dospaces = s3Service(
  {
    storage: spacesBodies.storage.refine(saysOneRegion, ONE_REGION),
    input: spacesBodies.input.refine(saysOneRegion, ONE_REGION),
  },
  ({ region: given, endpoint }: SpacesPlace) => {
    const region = given ?? regionOfHost(endpoint ?? "") ?? SPACES_REGION;
    return { endpoint: `https://${region}.digitaloceanspaces.com`, region };
  },
);

const linode = s3Service(
  s3Bodies(
    "linode",
    "Linode Object Storage",
    { region },
    {
      acl: aclOf("private", "public-read", "public-read-write", "authenticated-read"),
      storage_class: STANDARD,
    },
  ),
  ({ region }: Regional) => ({ endpoint: `https://${region}.linodeobjects.com`, region }),
);

const wasabi = s3Service(
  s3Bodies("wasabi", "Wasabi", { region }, { acl: AWS_ACLS, storage_class: STANDARD }),
  ({ region }: Regional) => ({
    endpoint: `https://s3.${region}.wasabisys.com`,
    region,
  }),
);

export const S3_SERVICES: ReadonlyMap<string, S3Service> = new Map([
  ["s3", s3],
  ["gcs", gcs],
  ["dospaces", dospaces],
  ["linode", linode],
  ["wasabi", wasabi],
  ["r2", r2],
  ["s3other", s3other],
]);
