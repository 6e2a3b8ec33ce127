// Uploads in parts.
import { type Case, equal, ofCopraError, scenario } from "./scenario.ts";

/** 2.5 parts of 4 bytes. */
const CONTENT = new Uint8Array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);

export const UPLOAD_CASES = Object.entries<Case[1]>({
  "an upload whose parts are refused ends at once, and leaves the rest alone": async (origin) => {
    const { copra, requests } = scenario(origin, "refused");
    const error = await ofCopraError(copra.uploads.send(new Blob([CONTENT]), { name: "a", concurrency: 1 }));
    equal([error.status, error.code], [409, "upload_state_conflict"]);
    equal(
      (await requests()).map(({ method }) => method),
      ["POST", "PUT"],
    );
  },
  "a file is sent in parts, and failed parts are sent again": async (origin) => {
    const { copra, requests } = scenario(origin, "upload");
    const sent: number[] = [];
    const upload = await copra.uploads.send(new Blob([CONTENT]), {
      name: "a",
      onProgress: (_, bytes) => sent.push(bytes),
    });
    equal(upload.status, "completed");
    equal([sent[0], sent.at(-1), sent.length], [0, 10, 4]);
    const parts = (await requests()).filter(({ method }) => method === "PUT");
    equal(parts.map(({ path, size }) => `${path} ${size}`).sort(), [
      "/v2/uploads/u/parts/1 4",
      "/v2/uploads/u/parts/2 4",
      "/v2/uploads/u/parts/2 4",
      "/v2/uploads/u/parts/3 2",
    ]);
  },
  "an upload that was interrupted continues with the parts that are missing, from a stream, too": async (origin) => {
    const { copra, requests } = scenario(origin, "resumed");
    const stream = (): ReadableStream<Uint8Array> => new Blob([CONTENT]).stream();
    equal((await copra.uploads.send(stream(), { id: "u", size: 10 })).status, "completed");
    equal(
      (await requests()).map(({ method, path }) => `${method} ${path}`),
      ["GET /v2/uploads/u", "PUT /v2/uploads/u/parts/3", "POST /v2/uploads/u/complete"],
    );
    const other = await copra.uploads.send(new Blob(["abc"]), { id: "u" }).catch((error: Error) => error.message);
    equal(other, "The upload is for 10 bytes, and the file has 3");
  },
});
