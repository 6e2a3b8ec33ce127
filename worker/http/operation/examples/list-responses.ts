// Examples of responses about lists of jobs, and about uploads.

/** The id of an upload. */
export const UPLOAD_ID = "h2Ks9dQ0aLwE4nRb7TcX";
const PART = { number: 1, size: 67_108_864, etag: "9a0364b9e99bb480dd25e1f0284c8555" };
const UPLOAD = {
  id: UPLOAD_ID,
  name: "video.mov",
  size: 157_286_400,
  part_size: 67_108_864,
  status: "open",
  created_at: "2026-11-22T10:00:00.000Z",
  expires_at: "2026-11-23T10:04:11.000Z",
};

/** The id of an upload link. */
export const UPLOAD_LINK_ID = "Qm4vT1xYc8ZpB6kWs0Hd";
const LINK_URL = `https://copra.example.com/v2/links/${UPLOAD_LINK_ID}5f2d9c0e7ab14c36b8d1e0f94a7c2b63`;
const LISTED_LINK = {
  id: UPLOAD_LINK_ID,
  status: "waiting",
  name: null,
  max_size: 5_000_000_000,
  origins: ["https://app.example.com"],
  last_refused_origin: null,
  upload: null,
  job: null,
  job_error: null,
  created_at: "2026-11-22T10:00:00.000Z",
  expires_at: "2026-11-22T11:00:00.000Z",
  ended_at: null,
};

export const listResponses = (jobId: string) => ({
  JobCounts: {
    counts: { "job.starting": 12, "job.completed": 10_000, "job.failed": 3, "job.aborted": 0 },
    capped: true,
  },
  BulkResult: {
    jobs: [
      { id: jobId, status: "job.aborted" },
      { id: "Zf81kmQpsR02bc", error: { error_code: "job_state_conflict", message: "The job has already ended" } },
    ],
    has_more: false,
    next_cursor: null,
  },
  Upload: { ...UPLOAD, parts: [PART] },
  UploadList: { uploads: [UPLOAD], next_cursor: null },
  UploadPart: PART,
  UploadLink: { ...LISTED_LINK, url: LINK_URL, tus_url: `${LINK_URL}/tus` },
  UploadLinkList: { upload_links: [LISTED_LINK], next_cursor: null },
});
