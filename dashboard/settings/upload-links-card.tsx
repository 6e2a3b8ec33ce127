// The newest upload links of the account.
import type { UploadLinkList } from "../../client/index.ts";
import { bytes } from "../core/format.ts";
import { copra } from "../core/service.ts";
import { Card } from "../parts/card.tsx";
import { Link } from "../parts/controls/link.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { useResource } from "../parts/use-resource.ts";

type Row = UploadLinkList["upload_links"][number];
/** Two pages of the API. */
const MOST = 40;

async function readNewest(signal: AbortSignal): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for await (const row of copra.uploadLinks.list({ signal })) if (rows.push(row) === MOST) break;
  return rows;
}

export function UploadLinksCard() {
  const links = useResource(readNewest, []);
  return (
    <Card title="Upload links" actions={<a href="/docs/upload-links">How to create them</a>}>
      <Loaded of={links}>
        {(rows) => (
          <Table
            label="List of upload links"
            columns={COLUMNS}
            rows={rows}
            keyOf={({ id }) => id}
            empty="There is none. With an upload link, a browser sends one file to the service."
          />
        )}
      </Loaded>
    </Card>
  );
}

const COLUMNS: readonly Column<Row>[] = [
  ["Link", ({ id }) => id, "mono"],
  ["Status", ({ status }) => status],
  [
    "File",
    ({ name, upload, max_size }) =>
      upload ? `${name ?? upload.name}, ${bytes(upload.size)}` : (name ?? `up to ${bytes(max_size)}`),
  ],
  [
    "Result",
    ({ job, job_error, last_refused_origin }) => (
      <>
        {job !== null && <Link to={`/jobs/${job}`}>{job}</Link>}
        {job_error !== null && <span class="status bad">{job_error.message}</span>}
        {last_refused_origin !== null && <span class="status warn">refused the page of {last_refused_origin}</span>}
      </>
    ),
  ],
  ["Created", ({ created_at }) => <Time at={created_at} />],
  ["Expires", ({ expires_at }) => <Time at={expires_at} />],
];
