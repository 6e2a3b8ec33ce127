export default function NodesPage() {
  return <h1>Nodes</h1>;
}
