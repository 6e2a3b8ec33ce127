import { expect, it } from "vitest";
import { storageRejection } from "./storage-failure.ts";

const SIGNED = "https://videos.s3.amazonaws.com/a.mp4?X-Amz-Credential=AKIDSEEN%2F20260102&X-Amz-Signature=0123abcd";

/** Returns an S3 error document with everything that messages must not repeat. */
const document = (code: string, message: string, more = ""): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message>${more}` +
  `<AWSAccessKeyId>AKIDSEEN</AWSAccessKeyId><StringToSign>${SIGNED}</StringToSign><SignatureProvided>0123abcd` +
  "</SignatureProvided><RequestId>4442587FB7D0A2F9</RequestId><HostId>abc=</HostId></Error>";

const ENDPOINT = "<Endpoint>videos.s3.eu-west-1.amazonaws.com</Endpoint><Bucket>videos</Bucket>";
const ELSEWHERE = "the bucket is in eu-west-1, not in us-east-1; set `storage.region` to eu-west-1";
const EU = { bucketRegion: "eu-west-1" };
const WRONG = "The region 'us-east-1' is wrong; expecting 'eu-west-1'";
const WEEK = document("AuthorizationQueryParametersError", "X-Amz-Expires must be less than a week");
const EXPIRED = document("AccessDenied", "Request has expired", "<Expires>2026-01-02T03:04:05Z</Expires>");

type Row = [status: number, body: string, text: string, response?: { bucketRegion: string }];
/** Rejections by code and text. A body of one word is the code of an S3 document. */
const PERMANENT: Record<string, Row[]> = {
  storage_denied: [
    [403, "InvalidAccessKeyId", "the access key id does not exist"],
    [403, "SignatureDoesNotMatch", "the secret does not match"],
    [403, "AccessDenied", "no permission to write there"],
    [403, "", "HTTP 403)"],
    [401, "<html>who are you</html>", "HTTP 401)"],
    [400, "AccessControlListNotSupported", "remove `storage.acl`"],
    [400, "InvalidStorageClass", "`storage.storage_class`"],
    [501, "NotImplemented", "remove `acl`"],
    [400, "", "check the settings", { bucketRegion: "us-east-1" }],
    [400, WEEK, "check the settings"],
    [301, "<html>Moved</html>", "redirects to another URL"],
    [403, '\ufeff<?xml version="1.0"?><Error><Code>AuthenticationFailed</Code></Error>', "the key does not match"],
  ],
  storage_unreachable: [
    [403, EXPIRED, "expired"],
    [403, "RequestTimeTooSkewed", "clock"],
    [404, "NoSuchUpload", "must be restarted"],
  ],
  storage_bucket_not_found: [
    [404, "NoSuchBucket", "the bucket does not exist"],
    [404, "", "the bucket does not exist"],
    [404, "<Error><Code>ContainerNotFound</Code></Error>", "the bucket does not exist"],
  ],
  storage_region_not_valid: [
    [301, document("PermanentRedirect", "must be addressed using the specified endpoint", ENDPOINT), ELSEWHERE],
    [301, "", ELSEWHERE, EU],
    [400, "", ELSEWHERE, EU],
    [301, "PermanentRedirect", "is in another region"],
    [307, document("TemporaryRedirect", "Please re-send", ENDPOINT), ELSEWHERE],
    [400, document("AuthorizationHeaderMalformed", WRONG, "<Region>eu-west-1</Region>"), ELSEWHERE],
    [400, document("AuthorizationQueryParametersError", WRONG), ELSEWHERE],
    [400, "IllegalLocationConstraintException", ELSEWHERE, EU],
    [301, "PermanentRedirect", "is in another region", { bucketRegion: SIGNED }],
  ],
};
const TRANSIENT: Row[] = [
  [503, "SlowDown", "try again later"],
  [500, "InternalError", "try again later"],
  [400, "RequestTimeout", "try again later"],
  [429, "", "try again later"],
  [200, "InternalError", "HTTP 200, InternalError"],
];
const ROWS: [code: string, isTransient: boolean, ...Row][] = [
  ...Object.entries(PERMANENT).flatMap(([code, rows]) =>
    rows.map((row): [string, boolean, ...Row] => [code, false, ...row]),
  ),
  ...TRANSIENT.map((row): [string, boolean, ...Row] => ["storage_unreachable", true, ...row]),
];

it.each(ROWS)(
  "row %#, %s: names the error of a storage, and does not repeat a secret",
  (code, isTransient, status, body, text, response) => {
    const answer = /^\w+$/.test(body) ? document(body, "A reason") : body;
    const rejection = storageRejection({ bucketRegion: null, ...response, status, body: answer }, "us-east-1");
    expect(rejection).toMatchObject({ code, isTransient });
    expect(rejection.message).toContain(text);
    expect(rejection.message).not.toMatch(/AKIDSEEN|0123abcd|https?:/);
  },
);
