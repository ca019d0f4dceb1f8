/** Installs the peers, starts the servers and the application once for all tests, and provides their addresses. */
import type { TestProject } from 'vitest/node'
import { installPeers, type Peers, peersFolder } from './install.ts'
import { type Running, startApplication, startRouter, startSglang } from './processes.ts'

/** The peers and the addresses of the servers. */
export interface Places {
  readonly peers: Peers
  readonly application: string
  /** SGLang with default options: each chunk of a stream repeats everything so far. */
  readonly sglang: string
  /** SGLang with --incremental-streaming-output. */
  readonly incremental: string
  /** sglang-router in front of the first server. */
  readonly router: string
}

declare module 'vitest' {
  interface ProvidedContext {
    readonly places: Places
  }
}

/** Starts everything before the tests. Returns a function that stops it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const peers = installPeers(peersFolder())
  const starting: Promise<Running>[] = []
  const started = async (server: Promise<Running>): Promise<string> => {
    starting.push(server)
    return (await server).baseUrl
  }
  const stop = async () => {
    const ended = await Promise.allSettled(starting)
    await Promise.all(ended.map((server) => server.status === 'fulfilled' && server.value.stop()))
  }
  try {
    const [sglang, incremental, application] = await Promise.all([
      started(startSglang(peers, 'sglang')),
      started(startSglang(peers, 'sglang-incremental', ['--incremental-streaming-output'])),
      started(startApplication({ folder: peers.folder, tokenizers: peers.folder, python: peers.sglang })),
    ])
    const router = await started(startRouter(peers, sglang))
    project.provide('places', { peers, sglang, incremental, application, router })
  } catch (error) {
    await stop()
    throw error
  }
  return stop
}
