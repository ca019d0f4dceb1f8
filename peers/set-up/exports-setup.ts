/** Installs the programs that read exported files, for the tests that need neither SGLang nor the application. */
import type { TestProject } from 'vitest/node'
import { installExports, peersFolder } from './install.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Python with harbor, verifiers, datasets, torchrl, verl, SkyRL and torch. */
    readonly exports: string
  }
}

/** Installs everything before the tests. */
export default function setup(project: TestProject): void {
  project.provide('exports', installExports(peersFolder()))
}
