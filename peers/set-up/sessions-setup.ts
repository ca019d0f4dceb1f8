/** Installs the Python clients of sessions. */
import type { TestProject } from 'vitest/node'
import { installSessionClients, peersFolder } from './install.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Python with the clients of requirements-sessions.txt. */
    readonly sessionClients: string
  }
}

/** Installs the clients before the tests. */
export default function setup(project: TestProject): void {
  project.provide('sessionClients', installSessionClients(peersFolder()))
}
