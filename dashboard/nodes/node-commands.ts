// The commands that start a node with a new token. Pure.
import type { Tab } from "../parts/tabs.tsx";

export const WAYS = [
  { name: "node", label: "Node.js" },
  { name: "docker", label: "Docker" },
  { name: "systemd", label: "systemd" },
] as const satisfies readonly Tab<string>[];
export type Way = (typeof WAYS)[number]["name"];

/** The user of the image (deploy/images/node.Dockerfile). */
const IMAGE_USER = 10001;
const FILE = "copra-node-token";
type Service = { readonly command: string; readonly url: string; readonly token: string };

/**
 * Commands to type on the encoding machine, where Copra is. `command`: how its command line is run there; `url`: the
 * service's URL; `token`: letters and digits.
 */
export function startCommands(way: Way, { command, url, token }: Service): string {
  const write = `(umask 077; echo ${token} > ${FILE})`;
  switch (way) {
    case "node":
      return [write, `${command} node --url ${url} --token-file ${FILE}`].join("\n");
    case "systemd":
      return [write, `sudo ${command} node install --url ${url} --token-file ${FILE}`].join("\n");
    case "docker":
      return [
        `${write}; sudo chown ${IMAGE_USER} ${FILE}`,
        "docker build -f deploy/images/node.Dockerfile -t copra-node .",
        "docker run -d --restart unless-stopped --read-only --tmpfs /tmp --cap-drop ALL \\",
        "  --security-opt no-new-privileges --security-opt seccomp=deploy/seccomp.json \\",
        `  --security-opt apparmor=unconfined -v "$PWD/${FILE}:/run/copra/token:ro" \\`,
        `  copra-node --url ${url} --token-file /run/copra/token`,
      ].join("\n");
  }
}

/** True if a URL leads to the machine that opens it. */
export const isLoopback = (url: string): boolean =>
  /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);
