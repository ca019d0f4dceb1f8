/** Installs the peers, and starts SGLang with a mixture of experts and a LoRA adapter, and the application. */
import type { TestProject } from 'vitest/node'
import { installPeers, type Peers, peersFolder } from './install.ts'
import { type Running, startApplication, startMixture } from './processes.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The peers, and the addresses of the application and of SGLang. */
    readonly mixture: { readonly peers: Peers; readonly application: string; readonly server: string }
  }
}

/** Starts both before the tests. Returns a function that stops them. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const peers = installPeers(peersFolder())
  const starting: Promise<Running>[] = [
    startMixture(peers),
    startApplication({ folder: peers.folder, tokenizers: peers.folder, python: peers.sglang }),
  ]
  const stop = async () => {
    const ended = await Promise.allSettled(starting)
    await Promise.all(ended.map((server) => server.status === 'fulfilled' && server.value.stop()))
  }
  try {
    const [server, application] = await Promise.all(starting)
    project.provide('mixture', { peers, server: server?.baseUrl ?? '', application: application?.baseUrl ?? '' })
  } catch (error) {
    await stop()
    throw error
  }
  return stop
}
