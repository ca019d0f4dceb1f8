/** Installs and starts vLLM, llama.cpp’s server and the application, for the tests that compare all of them. */
import type { TestProject } from 'vitest/node'
import { installLlamacpp, installVllm, peersFolder } from './install.ts'
import { type Running, startApplication, startLlamacpp, startVllm } from './processes.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The addresses of the application, of vLLM and of llama.cpp’s server. */
    readonly vllm: { readonly application: string; readonly vllm: string; readonly llamacpp: string }
  }
}

/** Starts them before the tests. Returns a function that stops them. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = peersFolder()
  const peer = installVllm(folder)
  const starting: Promise<Running>[] = [
    startVllm(peer),
    startLlamacpp(installLlamacpp(folder)),
    startApplication({ folder, tokenizers: folder, python: peer.python }),
  ]
  const stop = async () => {
    const ended = await Promise.allSettled(starting)
    await Promise.all(ended.map((server) => server.status === 'fulfilled' && server.value.stop()))
  }
  try {
    const [vllm, llamacpp, application] = await Promise.all(starting)
    project.provide('vllm', {
      vllm: vllm?.baseUrl ?? '',
      llamacpp: llamacpp?.baseUrl ?? '',
      application: application?.baseUrl ?? '',
    })
  } catch (error) {
    await stop()
    throw error
  }
  return stop
}
