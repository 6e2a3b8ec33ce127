// The job as clients see it (contract, "Resources and their fields"); extra members are additive.

export type OutputView = {
  key: string;
  type: "video" | "image" | "httpstream";
  format: string;
  status: string;
  /** Percentage of this output alone; absent while there is nothing to tell. */
  progress?: string;
  url?: string;
  urls?: readonly string[];
  error?: string;
  error_code?: string;
};

export type JobView = {
  id: string;
  created_at: string;
  completed_at: string | null;
  status: string;
  progress: string;
  input: { status: string; error?: string; error_code?: string };
  outputs: readonly OutputView[];
};

/** `YYYY-MM-DD HH:MM:SS +0000` (contract, created_at) of a time in ms. */
export function contractDate(timeMs: number): string {
  const [date = "", time = ""] = new Date(timeMs).toISOString().split("T");
  return `${date} ${time.slice(0, 8)} +0000`;
}
