// The order in which test files run.
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files of one project follow each other, because only then can they share a process; in it, the longest are first. */
export default class FileOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const projects = this.ctx.projects.map(({ name }) => name);
    const rank = ({ project }: TestSpecification): number => projects.indexOf(project.name);
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
