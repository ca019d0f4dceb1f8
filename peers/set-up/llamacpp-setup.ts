/** Installs and starts llama.cpp's server and the application, for the tests that need no SGLang. */
import type { TestProject } from 'vitest/node'
import { installLlamacpp, peersFolder } from './install.ts'
import { type Running, startApplication, startLlamacpp } from './processes.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The addresses of the application and of llama.cpp's server. */
    readonly llamacpp: { readonly application: string; readonly server: string }
  }
}

/** Starts both before the tests. Returns a function that stops them. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const peer = installLlamacpp(peersFolder())
  const starting: Promise<Running>[] = [
    startLlamacpp(peer),
    startApplication({ folder: peer.folder, tokenizers: peer.folder, python: peer.python }),
  ]
  const stop = async () => {
    const ended = await Promise.allSettled(starting)
    await Promise.all(ended.map((server) => server.status === 'fulfilled' && server.value.stop()))
  }
  try {
    const [server, application] = await Promise.all(starting)
    project.provide('llamacpp', {
      server: server?.baseUrl ?? '',
      application: application?.baseUrl ?? '',
    })
  } catch (error) {
    await stop()
    throw error
  }
  return stop
}
