// copra uploads.
import type { UploadSummary } from "../../client/index.ts";
import { clientOf } from "../client.ts";
import type { Run } from "../command-spec.ts";
import { printable } from "../terminal/printable.ts";
import { table } from "../terminal/table.ts";
import { bytesText } from "../terminal/values.ts";

export const listUploads: Run = async (context) => {
  const { output, signal, copra } = await clientOf(context);
  const uploads: UploadSummary[] = [];
  for await (const upload of copra.uploads.list({ signal })) uploads.push(upload);
  output.data({ uploads }, () =>
    table([
      ["UPLOAD", "STATUS", "SIZE", "EXPIRES", "NAME"].map(output.colors.bold),
      ...uploads.map(({ id, status, size, expires_at, name }) => [
        id,
        status,
        bytesText(size),
        expires_at,
        printable(name),
      ]),
    ]),
  );
};

export const deleteUploads: Run = async (context, ids) => {
  const { output, signal, copra } = await clientOf(context);
  for (const id of ids) await copra.uploads.delete(id, { signal });
  output.data({ deleted: ids }, () => ids.join("\n"));
};
