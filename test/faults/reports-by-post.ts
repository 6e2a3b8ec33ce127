// Loaded with --import into nodes whose reports a fault proxy has to see: it does not look into WebSockets. A node
// reports in this way whenever the hub does not answer.
import { NodeLink } from "../../encoder-node/link/node-link.ts";

NodeLink.prototype.report = () => Promise.resolve(null);
