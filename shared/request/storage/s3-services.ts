// Services with an S3 API, by their names in requests, with their documented fields, values and endpoints.
import * as z from "zod";
import { text } from "../parse-section.ts";
import { HMAC_KEYS } from "./credentials.ts";
import { ACL, aclOf, anyToken, CLASS, classOf } from "./object-options.ts";
import { type S3Service, s3Bodies, s3Service } from "./s3-service.ts";

const region = text(64, ", such as us-east-1")
  .regex(/^[a-z0-9-]+$/i, "must be a region name such as us-east-1")
  .describe("The region of the bucket");
type Regional = { region: string };
const endpoint = text(1024, ": the URL of the service, such as https://s3.example.com").describe(
  "The http or https URL of the service, without the bucket",
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
    {
      region: region
        .default("us-east-1")
        .describe("The region of the bucket. For a storage, the service finds the right region by the first request"),
    },
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
  ({ region }: Regional) => ({ endpoint: awsEndpoint(region), region }),
);

/** The endpoint of Amazon S3 in a region. */
export const awsEndpoint = (region: string): string => `https://s3.${region}.${awsDomain(region)}`;

/** Returns the domain of a region: other AWS partitions have their own domains. */
function awsDomain(region: string): string {
  if (region.startsWith("cn-")) return "amazonaws.com.cn";
  return region.startsWith("eusc-") ? "amazonaws.eu" : "amazonaws.com";
}

const s3other = s3Service(
  s3Bodies(
    "s3other",
    "Any S3-compatible service",
    {
      endpoint,
      region: region.default("us-east-1"),
      force_path_style: z
        .boolean("must be true or false")
        .default(false)
        .describe("Whether requests name the bucket in the path of the URL, not in the host"),
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

const accountId = text(32).regex(/^[0-9a-f]{32}$/i, "must be the id of a Cloudflare account: 32 hexadecimal digits");
const r2Bodies = s3Bodies(
  "r2",
  "Cloudflare R2, located by either `account_id` or `endpoint`",
  {
    account_id: accountId.optional().describe("The id of the Cloudflare account; or use `endpoint`"),
    endpoint: endpoint.optional().describe("The S3 URL of the bucket without its name, for buckets in a jurisdiction"),
  },
  // R2 has no ACLs: a whole bucket is public, under a separate URL.
  { storage_class: classOf("STANDARD", "STANDARD_IA") },
);
const placedOnce = ({ account_id, endpoint }: R2Place): boolean =>
  (account_id === undefined) !== (endpoint === undefined);
const PLACED_ONCE = { path: ["account_id"], message: "must be present if and only if `endpoint` is absent" };
const r2 = s3Service(
  { storage: r2Bodies.storage.refine(placedOnce, PLACED_ONCE), input: r2Bodies.input.refine(placedOnce, PLACED_ONCE) },
  ({ account_id, endpoint }: R2Place) => ({
    endpoint: endpoint ?? `https://${account_id}.r2.cloudflarestorage.com`,
    region: "auto",
    forcePathStyle: true,
  }),
);

/**
 * Google's XML API with HMAC keys. It accepts AWS signatures, and with them x-amz- headers instead of its own x-goog-
 * headers. Both kinds must not be mixed (Cloud Storage, Simple migration). It accepts any region in a signature.
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
    HMAC_KEYS,
  ),
  ({ region }: Regional) => ({ endpoint: "https://storage.googleapis.com", region, forcePathStyle: true }),
);

/**
 * Default for clients without a region. A Space in another region fails with `storage_bucket_not_found` or
 * `storage_denied`.
 */
const SPACES_REGION = "nyc3";
/** With or without the bucket in the host, because the control panel shows both. */
const SPACES_HOST = /^https:\/\/(?:[a-z0-9.-]+\.)?([a-z]{3}\d)\.digitaloceanspaces\.com\/?$/i;

type SpacesPlace = { region?: string | undefined; endpoint?: string | undefined };
const regionOfHost = (address: string): string | undefined => SPACES_HOST.exec(address)?.[1]?.toLowerCase();
const spacesBodies = s3Bodies(
  "dospaces",
  "DigitalOcean Spaces",
  {
    region: region
      .optional()
      .describe(`The region of the bucket; by default the region of \`endpoint\`, or ${SPACES_REGION}`),
    endpoint: text(1024)
      .refine(
        (address) => regionOfHost(address) !== undefined,
        "must be a URL such as https://nyc3.digitaloceanspaces.com",
      )
      .optional()
      .describe("The URL that the control panel shows; an alternative to `region`"),
  },
  { acl: aclOf("private", "public-read"), storage_class: STANDARD },
);
const hasOneRegion = ({ region, endpoint }: SpacesPlace): boolean =>
  region === undefined || endpoint === undefined || regionOfHost(endpoint) === region.toLowerCase();
const ONE_REGION = { path: ["region"], message: "must be the region in `endpoint`; one of them is sufficient" };
const dospaces = s3Service(
  {
    storage: spacesBodies.storage.refine(hasOneRegion, ONE_REGION),
    input: spacesBodies.input.refine(hasOneRegion, ONE_REGION),
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
    { acl: aclOf("private", "public-read", "public-read-write", "authenticated-read"), storage_class: STANDARD },
  ),
  ({ region }: Regional) => ({ endpoint: `https://${region}.linodeobjects.com`, region }),
);

const wasabi = s3Service(
  s3Bodies("wasabi", "Wasabi", { region }, { acl: AWS_ACLS, storage_class: STANDARD }),
  ({ region }: Regional) => ({ endpoint: `https://s3.${region}.wasabisys.com`, region }),
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
