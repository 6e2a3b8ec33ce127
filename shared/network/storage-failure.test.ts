import { describe, expect, it } from "vitest";
import { type StorageResponse, storageRejection } from "./storage-failure.ts";

const SIGNED = "https://videos.s3.amazonaws.com/a.mp4?X-Amz-Credential=AKIDSEEN%2F20260102&X-Amz-Signature=0123abcd";

/** Returns an S3 error document with everything that messages must not repeat. */
const document = (code: string, message: string, more = ""): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message>${more}` +
  `<AWSAccessKeyId>AKIDSEEN</AWSAccessKeyId><StringToSign>${SIGNED}</StringToSign><SignatureProvided>0123abcd` +
  "</SignatureProvided><RequestId>4442587FB7D0A2F9</RequestId><HostId>abc=</HostId></Error>";

const WRONG = "is wrong; expecting 'eu-west-1'";
const ENDPOINT = "<Endpoint>videos.s3.eu-west-1.amazonaws.com</Endpoint><Bucket>videos</Bucket>";
const ELSEWHERE = "the bucket is in eu-west-1, not in us-east-1; set `storage.region` to eu-west-1";

type Row = [status: number, body: string, code: string, isTransient: boolean, text: string, region?: string];
const ROWS: Row[] = [
  [
    403,
    document("InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist"),
    "storage_denied",
    false,
    "the access key id does not exist",
  ],
  [
    403,
    document("SignatureDoesNotMatch", "The request signature we calculated"),
    "storage_denied",
    false,
    "the secret does not match",
  ],
  [403, document("AccessDenied", "Access Denied"), "storage_denied", false, "no permission to write there"],
  [
    403,
    document("AccessDenied", "Request has expired", "<Expires>2026-01-02T03:04:05Z</Expires>"),
    "storage_unreachable",
    false,
    "expired",
  ],
  [
    403,
    document("RequestTimeTooSkewed", "The difference between the request time"),
    "storage_unreachable",
    false,
    "clock",
  ],
  [403, "", "storage_denied", false, "HTTP 403)"],
  [401, "<html>who are you</html>", "storage_denied", false, "HTTP 401)"],
  [
    400,
    document("AccessControlListNotSupported", "The bucket does not allow ACLs"),
    "storage_denied",
    false,
    "remove `storage.acl`",
  ],
  [
    400,
    document("InvalidStorageClass", "The storage class you specified is not valid"),
    "storage_denied",
    false,
    "`storage.storage_class`",
  ],
  [
    501,
    document("NotImplemented", "A header you provided implies functionality"),
    "storage_denied",
    false,
    "remove `acl`",
  ],
  [
    404,
    document("NoSuchBucket", "The specified bucket does not exist"),
    "storage_bucket_not_found",
    false,
    "the bucket does not exist",
  ],
  [404, "", "storage_bucket_not_found", false, "the bucket does not exist"],
  [
    404,
    document("NoSuchUpload", "The specified multipart upload does not exist"),
    "storage_unreachable",
    false,
    "must be restarted",
  ],
  [
    301,
    document("PermanentRedirect", "must be addressed using the specified endpoint", ENDPOINT),
    "storage_region_not_valid",
    false,
    ELSEWHERE,
  ],
  [301, "", "storage_region_not_valid", false, ELSEWHERE, "eu-west-1"],
  [400, "", "storage_region_not_valid", false, ELSEWHERE, "eu-west-1"],
  [400, "", "storage_denied", false, "check the settings", "us-east-1"],
  [301, document("PermanentRedirect", "elsewhere"), "storage_region_not_valid", false, "is in another region"],
  [301, "<html>Moved</html>", "storage_denied", false, "redirects to another URL"],
  [307, document("TemporaryRedirect", "Please re-send", ENDPOINT), "storage_region_not_valid", false, ELSEWHERE],
  [
    400,
    document("AuthorizationHeaderMalformed", `The region 'us-east-1' ${WRONG}`, "<Region>eu-west-1</Region>"),
    "storage_region_not_valid",
    false,
    ELSEWHERE,
  ],
  [
    400,
    document("AuthorizationQueryParametersError", `The region 'us-east-1' ${WRONG}`),
    "storage_region_not_valid",
    false,
    ELSEWHERE,
  ],
  [
    400,
    document("AuthorizationQueryParametersError", "X-Amz-Expires must be less than a week"),
    "storage_denied",
    false,
    "check the settings",
  ],
  [
    400,
    document("IllegalLocationConstraintException", "incompatible", ""),
    "storage_region_not_valid",
    false,
    ELSEWHERE,
    "eu-west-1",
  ],
  [301, document("PermanentRedirect", "x"), "storage_region_not_valid", false, "is in another region", `${SIGNED}`],
  [503, document("SlowDown", "Please reduce your request rate."), "storage_unreachable", true, "try again later"],
  [500, document("InternalError", "We encountered an internal error."), "storage_unreachable", true, "try again later"],
  [
    400,
    document("RequestTimeout", "Your socket connection was not read from"),
    "storage_unreachable",
    true,
    "try again later",
  ],
  [429, "", "storage_unreachable", true, "try again later"],
  [
    200,
    document("InternalError", "in the body of a completed upload"),
    "storage_unreachable",
    true,
    "HTTP 200, InternalError",
  ],
  [
    403,
    '\ufeff<?xml version="1.0"?><Error><Code>AuthenticationFailed</Code></Error>',
    "storage_denied",
    false,
    "the key does not match",
  ],
  [
    404,
    "<Error><Code>ContainerNotFound</Code></Error>",
    "storage_bucket_not_found",
    false,
    "the bucket does not exist",
  ],
];

describe("errors of a storage", () => {
  it.each(ROWS)(
    "%i row %#: names the error and does not repeat a secret",
    (status, body, code, isTransient, text, region) => {
      const response: StorageResponse = { status, body, bucketRegion: region ?? null };
      const rejection = storageRejection(response, "us-east-1");
      expect(rejection).toMatchObject({ code, isTransient });
      expect(rejection.message).toContain(text);
      expect(rejection.message).not.toMatch(/AKIDSEEN|0123abcd|https?:/);
    },
  );
});
