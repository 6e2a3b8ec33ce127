// Error codes, with the HTTP status, the chance of a retry, and the cause of each.

/** Cause of an error. It decides how the message addresses the client, and whether another node may succeed. */
export type Blame = "client" | "source" | "storage" | "node" | "platform";

export type ErrorTraits = {
  /** HTTP status of a response with this code; null for codes that only appear in statuses. */
  readonly http: number | null;
  /** True if the same work may succeed on a retry. */
  readonly retryable: boolean;
  readonly blame: Blame;
};

const response = (http: number, blame: Blame = "client"): ErrorTraits => ({ http, retryable: http >= 500, blame });
const final = (blame: Blame): ErrorTraits => ({ http: null, retryable: false, blame });
const retry = (blame: Blame): ErrorTraits => ({ http: null, retryable: true, blame });

export const ERRORS = {
  // Error responses (api-v2 §2).
  json_not_valid: response(400),
  request_not_valid: response(400),
  input_not_valid: response(400),
  input_url_not_valid: response(400),
  storage_not_valid: response(400),
  storage_service_not_valid: response(400),
  storage_credentials_not_valid: response(400),
  outputs_not_valid: response(400),
  output_not_valid: response(400),
  output_format_not_valid: response(400),
  output_param_not_valid: response(400),
  output_condition_not_valid: response(400),
  output_key_not_unique: response(400),
  output_path_not_unique: response(400),
  outputs_out_of_range: response(400),
  notification_not_valid: response(400),
  settings_not_valid: response(400),
  tags_not_valid: response(400),
  report_not_valid: response(400),
  template_not_valid: response(400),
  template_vars_not_valid: response(400),
  event_not_valid: response(400),
  query_not_valid: response(400),
  idempotency_key_not_valid: response(400),
  uploads_not_available: response(400),
  upload_part_not_valid: response(400),
  authentication_failed: response(401),
  upload_not_allowed: response(403),
  cross_site_request: response(403),
  scope_missing: response(403),
  job_not_found: response(404),
  probe_not_found: response(404),
  metadata_not_found: response(404),
  notification_not_found: response(404),
  account_not_found: response(404),
  credential_not_found: response(404),
  node_not_found: response(404),
  upload_not_found: response(404),
  template_not_found: response(404),
  saved_storage_not_found: response(404),
  upload_link_not_found: response(404),
  alert_not_found: response(404),
  object_not_found: response(404),
  route_not_found: response(404),
  method_not_allowed: response(405),
  account_state_conflict: response(409),
  job_state_conflict: response(409),
  probe_not_completed: response(409),
  upload_state_conflict: response(409),
  idempotency_key_reused: response(409),
  lease_superseded: response(409),
  upload_gone: response(409),
  too_many_templates: response(409),
  too_many_tokens: response(409),
  upload_link_ended: response(410),
  precondition_failed: response(412),
  body_too_large: response(413),
  range_not_satisfiable: response(416),
  // Defined by tus 1.0.0 (Checksum).
  upload_checksum_mismatch: response(460),
  rate_limited: response(429),
  too_many_jobs: response(429),
  too_many_uploads: response(429),
  internal_error: response(500, "platform"),
  service_unavailable: response(503, "platform"),
  sealing_key_missing: response(503, "platform"),

  // Failures of an input.
  input_address_not_allowed: final("client"),
  input_not_media: final("source"),
  input_codec_not_supported: final("source"),
  input_encrypted: final("source"),
  input_too_large: final("source"),
  input_host_not_found: final("source"),
  input_unreachable: retry("source"),
  input_timeout: retry("source"),

  // Failures of an output.
  input_has_no_video: final("source"),
  input_has_no_audio: final("source"),
  input_track_not_found: final("source"),
  offset_beyond_end: final("client"),
  watermark_failed: final("client"),
  subtitle_failed: final("client"),
  output_interval_not_possible: final("client"),
  output_size_not_possible: final("client"),
  copy_not_possible: final("client"),
  encoding_failed: retry("node"),
  encoder_not_available: retry("node"),
  chunk_mismatch: retry("node"),
  storage_address_not_allowed: final("client"),
  storage_denied: final("storage"),
  storage_bucket_not_found: final("storage"),
  storage_url_not_found: final("storage"),
  storage_region_not_valid: final("storage"),
  storage_unreachable: retry("storage"),
  node_failed: retry("node"),
  node_lost: retry("node"),
  // A node returns a task with this code. The task loses no attempt, because it has not failed.
  node_busy: retry("node"),
  cancelled: final("client"),
  // Time limits of the job's settings.
  job_not_started: final("client"),
  job_timeout: final("client"),
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
  return { http: null, retryable: status >= 500 || RETRYABLE_SOURCE_STATUSES.has(status), blame: "source" };
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
