export default function JobPage({ id }: { readonly id: string }) {
  return <h1>Job {id}</h1>;
}
