/** Installs the clients of sessions and SGLang, and starts SGLang and the application. */
import type { TestProject } from 'vitest/node'
import { installPeers, installSessionClients, peersFolder } from './install.ts'
import { type Running, startApplication, startSglang } from './processes.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Python with the clients, the model of SGLang, and the addresses of SGLang and of the application. */
    readonly sessionEngines: {
      readonly clients: string
      readonly model: string
      readonly sglang: string
      readonly application: string
    }
  }
}

/** Starts both before the tests. Returns a function that stops them. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const peers = installPeers(peersFolder())
  const clients = installSessionClients(peersFolder())
  const starting: Promise<Running>[] = [
    startSglang(peers, 'sglang-sessions'),
    startApplication({ folder: peers.folder, tokenizers: peers.folder, python: peers.sglang }),
  ]
  const stop = async () => {
    const ended = await Promise.allSettled(starting)
    await Promise.all(ended.map((server) => server.status === 'fulfilled' && server.value.stop()))
  }
  try {
    const [sglang, application] = await Promise.all(starting)
    project.provide('sessionEngines', {
      clients,
      model: peers.model,
      sglang: sglang?.baseUrl ?? '',
      application: application?.baseUrl ?? '',
    })
  } catch (error) {
    await stop()
    throw error
  }
  return stop
}
