export default function NewJobPage() {
  return <h1>New job</h1>;
}
