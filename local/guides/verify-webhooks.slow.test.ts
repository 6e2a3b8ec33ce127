// Runs the samples of docs/verify-webhooks.md whose language is installed.
import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { ROOT } from "../home/constants.ts";

const PAGE = readFileSync(join(ROOT, "docs", "verify-webhooks.md"), "utf8");
const sampleIn = (language: string): string => PAGE.split(`\`\`\`${language}\n`)[1]?.split("\n```")[0] ?? "";

type Runtime = {
  readonly language: string;
  readonly command: readonly string[];
  readonly file: string;
  /**
   * A program around the sample. It reads headers, body and secret from the arguments, and prints `true` or `false`.
   */
  readonly program: (sample: string) => string;
};

const RUNTIMES: readonly Runtime[] = [
  {
    language: "ts",
    command: [process.execPath, "--no-warnings"],
    file: "sample.ts",
    program: (sample) => `${sample}
const [id = "", sent = "", given = "", body = "", secret = ""] = process.argv.slice(2);
const headers = { "webhook-id": id, "webhook-timestamp": sent, "webhook-signature": given };
console.log(isSigned(headers, Buffer.from(body), secret));`,
  },
  {
    language: "python",
    command: ["python3"],
    file: "sample.py",
    program: (sample) => `${sample}
import sys
names = ["webhook-id", "webhook-timestamp", "webhook-signature"]
print(str(is_signed(dict(zip(names, sys.argv[1:4])), sys.argv[4].encode(), sys.argv[5])).lower())`,
  },
  {
    language: "go",
    command: ["go", "run"],
    file: "sample.go",
    program: (sample) =>
      `${sample.replace("package webhook", "package main").replace("import (", 'import (\n\t"os"')}
func main() {
	header := http.Header{}
	header.Set("webhook-id", os.Args[1])
	header.Set("webhook-timestamp", os.Args[2])
	header.Set("webhook-signature", os.Args[3])
	println(IsSigned(header, []byte(os.Args[4]), os.Args[5]))
}`
        .replace("println(", "os.Stdout.WriteString(strconv.FormatBool(")
        .replace("os.Args[5]))\n}", "os.Args[5])))\n}"),
  },
  {
    language: "java",
    command: ["java"],
    file: "Webhook.java",
    program: (sample) =>
      sample.replace(
        "final class Webhook {",
        `final class Webhook {
  public static void main(String[] given) throws Exception {
    var headers = Map.of("webhook-id", given[0], "webhook-timestamp", given[1], "webhook-signature", given[2]);
    System.out.println(isSigned(headers, given[3].getBytes("UTF-8"), given[4]));
  }`,
      ),
  },
  {
    language: "php",
    command: ["php"],
    file: "sample.php",
    program: (sample) => `${sample}
[$_, $id, $sent, $given, $body, $secret] = $argv;
$headers = ['webhook-id' => $id, 'webhook-timestamp' => $sent, 'webhook-signature' => $given];
echo var_export(is_signed($headers, $body, $secret), true);`,
  },
  {
    language: "ruby",
    command: ["ruby"],
    file: "sample.rb",
    program: (sample) => `${sample}
id, sent, given, body, secret = ARGV
puts signed?({ "webhook-id" => id, "webhook-timestamp" => sent, "webhook-signature" => given }, body, secret)`,
  },
];

const SECRET = `whsec_${Buffer.from("a secret of thirty-two bytes len").toString("base64")}`;
const ID = "msg_3clA7G2GY8bXR5_1";
const BODY = '{"event":"job.completed","data":{"name":"Überraschung"}}';
const signatureAt = (sent: number, secret = SECRET, body = BODY): string => {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  return `v1,${createHmac("sha256", key).update(`${ID}.${sent}.${body}`).digest("base64")}`;
};

const isInstalled = ([program = ""]: readonly string[]): boolean => {
  try {
    execFileSync("sh", ["-c", `command -v ${program}`]);
    return true;
  } catch {
    return false;
  }
};

describe.each(RUNTIMES.filter(({ command }) => isInstalled(command)))("the sample in $language", (runtime) => {
  const folder = fileFolder();
  beforeAll(() => {
    writeFileSync(join(folder, runtime.file), runtime.program(sampleIn(runtime.language)));
  });
  const accepts = (sent: number, signature: string, body = BODY): string => {
    const [program = "", ...options] = runtime.command;
    const argv = [...options, join(folder, runtime.file), ID, String(sent), signature, body, SECRET];
    // Go needs a folder for compiled files.
    return execFileSync(program, argv, {
      encoding: "utf8",
      env: { ...process.env, GOCACHE: join(tmpdir(), "copra-go"), GO111MODULE: "off" },
    }).trim();
  };

  it("accepts a signed webhook, and rejects another body, secret or time", () => {
    const now = Math.floor(Date.now() / 1000);
    const other = `whsec_${Buffer.from("another one").toString("base64")}`;
    expect(accepts(now, signatureAt(now))).toBe("true");
    expect(accepts(now, `${signatureAt(now, other)} ${signatureAt(now)}`)).toBe("true");
    expect(accepts(now, signatureAt(now), BODY.replace("completed", "failed"))).toBe("false");
    expect(accepts(now, signatureAt(now, other))).toBe("false");
    expect(accepts(now - 400, signatureAt(now - 400))).toBe("false");
  });
});
