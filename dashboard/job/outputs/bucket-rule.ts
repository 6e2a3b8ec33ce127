// The rule (CORS) that a bucket needs so that web pages may read its objects, to paste.

export type BucketRule = {
  /** The name of the rule, and the place where it belongs. */
  readonly label: string;
  readonly text: string;
};

/** The player's page has no origin, so a narrower rule would not let it read. */
const S3_RULE = [
  {
    AllowedOrigins: ["*"],
    AllowedMethods: ["GET", "HEAD"],
    AllowedHeaders: ["Range"],
    ExposeHeaders: ["Content-Length", "Content-Range"],
    MaxAgeSeconds: 3600,
  },
];
const GCS_RULE = [
  { origin: ["*"], method: ["GET", "HEAD"], responseHeader: ["Range", "Content-Range"], maxAgeSeconds: 3600 },
];
const pretty = (value: unknown): string => JSON.stringify(value, null, 2);
const named = (value: unknown): string => (typeof value === "string" ? value : "<bucket>");

/** The rule for the storage section of the request; the rule for S3 if the storage is not known. */
export function bucketRule(storage: Readonly<Record<string, unknown>> | undefined): BucketRule {
  const { service, bucket, container, endpoint, url } = storage ?? {};
  const name = named(bucket);
  if (typeof url === "string") {
    return { label: "A header of the server that serves the files", text: "Access-Control-Allow-Origin: *" };
  }
  switch (service) {
    case "gcs":
      return {
        label: `Save as cors.json, then: gcloud storage buckets update gs://${name} --cors-file=cors.json`,
        text: pretty(GCS_RULE),
      };
    case "azure":
      return {
        label: `For the storage account of the container ${named(container)}`,
        text: "az storage cors add --services b --methods GET HEAD --origins '*' --allowed-headers Range --exposed-headers Content-Range --max-age 3600 --account-name <account>",
      };
    case "r2":
      return { label: `Cloudflare dashboard → R2 → ${name} → Settings → CORS policy`, text: pretty(S3_RULE) };
    case "backblaze":
      return {
        label: `b2 bucket update ${name} --cors-rules '…'`,
        text: pretty([
          {
            corsRuleName: "players",
            allowedOrigins: ["*"],
            allowedHeaders: ["range"],
            allowedOperations: ["b2_download_file_by_name", "s3_get", "s3_head"],
            exposeHeaders: ["content-range"],
            maxAgeSeconds: 3600,
          },
        ]),
      };
    case "s3":
      return {
        label: `AWS console → S3 → ${name} → Permissions → Cross-origin resource sharing`,
        text: pretty(S3_RULE),
      };
    default: {
      const at = typeof endpoint === "string" ? ` --endpoint-url ${endpoint}` : "";
      return {
        label: `Save as cors.json, then: aws s3api put-bucket-cors --bucket ${name} --cors-configuration file://cors.json${at}`,
        text: pretty({ CORSRules: S3_RULE }),
      };
    }
  }
}
