// The table of error codes. Everything else about a code is derived from its row.

/** Cause of an error. It decides how the message addresses the client, and whether another node may succeed. */
export type Blame = "client" | "source" | "storage" | "node" | "platform";

/**
 * The part of a job that ends with a failure, once its source was inspected. A failed inspection always ends the input.
 */
type Scope = "request" | "input" | "output" | "job";

/**
 * Chance of a retry. `now`: the service retries by itself. `later`: it may succeed after a change elsewhere, for
 * example of the storage's rights. `never`: the same request and file fail again.
 */
type Retry = "now" | "later" | "never";

export type ErrorTraits = {
  /** HTTP status of a response with this code; null for codes that only appear in statuses. */
  readonly http: number | null;
  readonly blame: Blame;
  readonly scope: Scope;
  readonly retry: Retry;
  /** The description of the code for clients, as a sentence. */
  readonly description: string;
};

const response = (http: number, description: string, blame: Blame = "client") =>
  ({ http, blame, scope: "request", retry: http >= 500 ? "now" : "never", description }) as const;
const failure = (blame: Blame, scope: Scope, retry: Retry, description: string) =>
  ({ http: null, blame, scope, retry, description }) as const;
const client = (scope: Scope, description: string) => failure("client", scope, "never", description);
const source = (scope: Scope, retry: Retry, description: string) => failure("source", scope, retry, description);
const storage = (retry: Retry, description: string) => failure("storage", "output", retry, description);
const node = (description: string) => failure("node", "output", "now", description);

export const ERRORS = {
  // Error responses (api-v2 §2).
  json_not_valid: response(400, "The body is not valid JSON, or not an object."),
  request_not_valid: response(400, "A field of the body is unknown, missing or not valid; the message names it."),
  input_not_valid: response(400, "`input` is missing, is not an object, or has a field that is not valid."),
  input_url_not_valid: response(400, "`input.url` is not an http or https URL, or its address is not allowed."),
  storage_not_valid: response(400, "`storage` is missing, is not an object, or has a field that is not valid."),
  storage_service_not_valid: response(400, "`storage.service` is missing, unknown, or not available on this server."),
  storage_credentials_not_valid: response(400, "A credential of the storage is missing or not valid."),
  outputs_not_valid: response(400, "`outputs` is missing, empty, or not an object."),
  output_not_valid: response(400, "An output is not an object of parameters or an array of such objects."),
  output_format_not_valid: response(
    400,
    "A format is not valid or not supported; the message names the mistake and the allowed values.",
  ),
  output_param_not_valid: response(
    400,
    "A parameter of an output is unknown or not valid; the message names the output and the parameter.",
  ),
  output_condition_not_valid: response(400, "An `if` condition is not valid; the message gives the column."),
  output_key_not_unique: response(400, "Two outputs have the same key."),
  output_path_not_unique: response(
    400,
    "Two outputs would write the same object. For a failed output: the conditions of both outputs are true.",
  ),
  outputs_out_of_range: response(400, "The job has too many outputs."),
  notification_not_valid: response(
    400,
    "`notification` is missing, has an unknown type, or has a field that is not valid.",
  ),
  settings_not_valid: response(400, "A field of `settings` is unknown or not valid."),
  tags_not_valid: response(400, "A name or value in `tags` is not valid, or there are too many."),
  report_not_valid: response(400, "The report of a node is not valid."),
  template_not_valid: response(
    400,
    "A template, or the name of a template in a job, is not valid; the message names the field.",
  ),
  template_vars_not_valid: response(400, "A variable of the template is missing, not used, or has the wrong type."),
  event_not_valid: response(400, "The body is no event of a known object storage, or its signature is wrong."),
  query_not_valid: response(400, "A query parameter is unknown or not valid; the message names it."),
  idempotency_key_not_valid: response(
    400,
    "The `Idempotency-Key` does not consist of 1 to 255 visible ASCII characters.",
  ),
  uploads_not_available: response(400, "This server takes no uploads of source files."),
  upload_part_not_valid: response(400, "The number, length or digest of a part is not as expected."),
  authentication_failed: response(401, "The API key or token is missing, unknown, expired, or revoked."),
  upload_not_allowed: response(403, "The URL is not signed for this upload, or the signature has expired."),
  cross_site_request: response(403, "A page of another site sent the request, with the cookie of a session."),
  scope_missing: response(
    403,
    "The API key has scopes, and none that allows this request; the message names the missing scope.",
  ),
  job_not_found: response(404, "The account has no job with this id."),
  probe_not_found: response(404, "The account has no probe with this id, or it was removed a day after its end."),
  metadata_not_found: response(404, "There is no metadata for this key, either not yet or no longer."),
  notification_not_found: response(404, "The job has no notification with this id, or its notifications were deleted."),
  account_not_found: response(404, "There is no account with this id."),
  credential_not_found: response(404, "There is no API key or node token with this id."),
  node_not_found: response(
    404,
    "No node of this name is connected, is cordoned, or was connected within a week; or it is connected, and was to be forgotten.",
  ),
  upload_not_found: response(404, "The account has no upload with this id, or it was removed."),
  template_not_found: response(404, "The account has no template with this name and version."),
  saved_storage_not_found: response(404, "The account has no saved storage with this name."),
  upload_link_not_found: response(
    404,
    "The account has no upload link with this id, the link's URL is wrong, or it was removed.",
  ),
  alert_not_found: response(404, "There is no alert with this name."),
  object_not_found: response(404, "The object does not exist, or was deleted."),
  route_not_found: response(404, "There is no resource at this URL."),
  method_not_allowed: response(405, "The resource does not support this method."),
  account_state_conflict: response(409, "Another request changed the account at the same time."),
  job_state_conflict: response(409, "The current status of the job does not allow this operation."),
  probe_not_completed: response(409, "The probe whose source the dry run is to plan for has not ended, or has failed."),
  upload_state_conflict: response(409, "The current status of the upload does not allow this operation."),
  idempotency_key_reused: response(409, "The `Idempotency-Key` was used with another body within the last 24 hours."),
  lease_superseded: response(409, "The lease of the node is no longer valid."),
  upload_gone: response(409, "The upload that this part belongs to has ended."),
  too_many_templates: response(
    409,
    "The account has reached its limit of templates, or of saved storages; delete some.",
  ),
  too_many_tokens: response(409, "The template has reached its limit of tokens; delete some."),
  upload_link_ended: response(410, "The upload link has expired or was revoked."),
  precondition_failed: response(412, "The object or template does not match a precondition of the request."),
  body_too_large: response(413, "The body is larger than 1 MiB, 5 MiB for a batch, or 64 KiB for a template."),
  range_not_satisfiable: response(416, "The object does not have the requested byte range."),
  // Defined by tus 1.0.0 (Checksum).
  upload_checksum_mismatch: response(460, "The body of the part does not match its `Upload-Checksum`."),
  rate_limited: response(429, "Too many requests; `Retry-After` is the number of seconds to wait."),
  too_many_jobs: response(
    429,
    "The account has reached its limit of unfinished jobs; `Retry-After` is the number of seconds to wait.",
  ),
  too_many_uploads: response(
    429,
    "The account has reached its limit of uploads, or of their bytes; delete some, or wait until they are removed. `Retry-After` is in seconds.",
  ),
  internal_error: response(500, "An internal error occurred.", "platform"),
  service_unavailable: response(
    503,
    "The service, or a service that it depends on, is unavailable; `Retry-After` is the number of seconds to wait.",
    "platform",
  ),
  sealing_key_missing: response(
    503,
    "The data of the account is encrypted with a key that the service no longer has; the operator must restore the key.",
    "platform",
  ),

  // Failures of an input.
  input_address_not_allowed: client("input", "The URL of the input leads to a network that nodes must not access."),
  input_not_media: source("input", "never", "The input is not a media file, or is damaged."),
  input_codec_not_supported: source("output", "never", "The input uses a codec that is not supported."),
  input_encrypted: source("output", "never", "The input is encrypted and cannot be decoded."),
  input_too_large: source("input", "later", "The input is larger than the node allows."),
  input_host_not_found: source("input", "later", "The host of the input does not exist."),
  input_unreachable: source("input", "now", "The server of the input does not respond, or closed the connection."),
  input_clip_beyond_end: source("input", "never", "`input.start` is after the end of the input."),
  input_timeout: source("input", "now", "The input did not arrive in time."),

  // Failures of an output.
  input_has_no_video: source("output", "never", "The output requires video, and the input has none."),
  input_has_no_audio: source("output", "never", "The output requires audio, and the input has none."),
  input_track_not_found: source(
    "output",
    "never",
    "The input lacks a track that the output requests, or the track cannot be used as requested.",
  ),
  offset_beyond_end: client("output", "The output starts after the end of the input."),
  watermark_failed: client("output", "The watermark cannot be fetched, or is not an image."),
  overlay_failed: client(
    "output",
    "The image of an overlay cannot be fetched, no font has the letters of its text, or the input lacks its times.",
  ),
  subtitle_failed: client(
    "output",
    "A text track of the output, or a file of `burn`, cannot be fetched or read, or its images cannot become text.",
  ),
  speech_failed: node("The speech of the input could not be recognized."),
  output_interval_not_possible: client(
    "output",
    "The interval would create too many images of this input, or the duration of the input is unknown.",
  ),
  output_size_not_possible: client("output", "The encoder does not support this frame size."),
  crop_not_possible: client("output", "The input has no such rectangle as `crop` requests."),
  copy_not_possible: client(
    "output",
    "The stream of the input cannot be copied to the container of the output without encoding.",
  ),
  encoding_failed: node("The encoder failed."),
  encoder_not_available: node("No node has the required encoder."),
  chunk_mismatch: node("A chunk does not match the other chunks of the video."),
  storage_address_not_allowed: client(
    "output",
    "The URL of the storage leads to a network that nodes must not access.",
  ),
  storage_denied: storage("later", "The storage denied access with these credentials."),
  storage_bucket_not_found: storage("later", "The bucket does not exist."),
  storage_url_not_found: storage("later", "The upload URL in `storage.url` responded with HTTP 404."),
  storage_region_not_valid: storage("later", "The bucket is in another region than `storage.region`."),
  storage_unreachable: storage("now", "The storage does not respond, or closed the connection."),
  node_failed: node("The node failed for an internal reason."),
  node_lost: node("The connections to the nodes that worked on the task were lost too often."),
  // A node returns a task with this code. The task loses no attempt, because it has not failed.
  node_busy: node("The node had no space for the input and returned the task."),
  cancelled: client("job", "The job was canceled."),
  // Time limits of the job's settings.
  job_not_started: client("job", "No node took the job's work within `settings.start_within_s`."),
  job_timeout: client("job", "The job did not end within `settings.max_run_s` after its first task started."),
} as const satisfies Record<string, ErrorTraits>;

/** `input_http_<status>` contains the source server's status. Its traits are computed from the status. */
export type ErrorCode = keyof typeof ERRORS | `input_http_${number}`;

/** HTTP statuses of a source server that mean "try again later". */
const RETRYABLE_SOURCE_STATUSES = new Set([408, 425, 429]);

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERRORS, text) || /^input_http_[1-5]\d\d$/.test(text);
}

export function errorTraits(code: ErrorCode): ErrorTraits {
  const known: ErrorTraits | undefined = ERRORS[code as keyof typeof ERRORS];
  if (known) return known;
  const status = Number(code.slice("input_http_".length));
  const retry = status >= 500 || RETRYABLE_SOURCE_STATUSES.has(status) ? "now" : "later";
  return source("input", retry, `The server of the input responded with HTTP ${status}.`);
}

/** Failure in statuses and reports. `message` is a plain sentence that clients may read. */
export type Failure = { readonly code: ErrorCode; readonly message: string };

/** An error with a code of the table. Clients may read the message. */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly code: ErrorCode;
  /** Delay before a retry, if known. */
  readonly retryAfterSeconds: number | null;

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; retryAfterSeconds?: number } = {}) {
    super(message, "cause" in options ? { cause: options.cause } : {});
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
  }

  static from({ code, message }: Failure, options: { cause?: unknown; retryAfterSeconds?: number } = {}): AppError {
    return new AppError(code, message, options);
  }
}

/** Returns the code and message of an error for reports and stored states, without its stack and cause. */
export const failureOf = ({ code, message }: AppError): Failure => ({ code, message });

/** Ends a switch over a union. An unhandled member does not compile. */
export function assertNever(value: never): never {
  throw new Error(`Unhandled case: ${JSON.stringify(value)}`);
}
