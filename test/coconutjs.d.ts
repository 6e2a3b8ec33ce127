// The part of the client library that the tests use; the library ships no types.
declare module "coconutjs" {
  import type { JobView } from "#shared/job/job-view.ts";

  interface CoconutError extends Error {
    readonly error_code: string;
  }

  export type Metadata = {
    job_id: string;
    metadata: { input: { streams: object[]; format: object }; outputs: Record<string, object>[] };
  };

  class Client {
    constructor(apiKey: string, config: { endpoint?: string; storage?: object; notification?: object });
    readonly Job: {
      create(options: object, callback: (job: JobView | null, error: CoconutError | null) => void): void;
      retrieve(id: string, callback: (job: JobView | null, error: CoconutError | null) => void): void;
    };
    readonly Metadata: {
      retrieve(id: string, callback: (metadata: Metadata | null, error: CoconutError | null) => void): void;
    };
  }

  const coconut: { Client: typeof Client };
  export default coconut;
}
