/** Memory of a Node process: its resident memory at any time, and its heap after a collection, through its inspector. */
import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Memory after a collection, in bytes. */
interface Collected {
  /** Objects on the JavaScript heap of the main thread. */
  readonly heap: number
  /** Memory of the main thread's objects outside of the heap, mainly buffers. */
  readonly external: number
  /** Resident memory of the whole process, threads included. */
  readonly resident: number
}

/** Measures the memory of one process. */
export interface ProcessMemory {
  /** Resident memory now, in bytes. Linux only. */
  resident(): number
  /** Collects garbage and returns the memory after that. */
  collected(): Promise<Collected>
  close(): void
}

/** Opens the inspector of a process. `port` is its port (`--inspect-port` in its NODE_OPTIONS). */
export async function watchMemory(child: ChildProcess, port: number): Promise<ProcessMemory> {
  const { pid } = child
  if (pid === undefined) throw new Error('the process has not started')
  process.kill(pid, 'SIGUSR1')
  const socket = new WebSocket(await inspectorAddress(port))
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve(), { once: true })
    socket.addEventListener('error', () => reject(new Error('the inspector of the process refuses')), { once: true })
  })
  const waiting = new Map<number, (result: unknown) => void>()
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(data)
    waiting.get(id)?.(result)
    waiting.delete(id)
  })
  let last = 0
  const send = (method: string, params: object = {}): Promise<unknown> => {
    const id = ++last
    socket.send(JSON.stringify({ id, method, params }))
    return new Promise((resolve) => waiting.set(id, resolve))
  }
  const resident = () => {
    const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kibibytes) * 1024
  }
  return {
    resident,
    async collected() {
      // It runs twice, because objects that a first collection releases may own buffers.
      for (let pass = 0; pass < 2; pass++) await send('HeapProfiler.collectGarbage')
      const expression = 'JSON.stringify(process.memoryUsage())'
      const { result } = (await send('Runtime.evaluate', { expression })) as { result: { value: string } }
      const { heapUsed, external } = JSON.parse(result.value)
      return { heap: heapUsed, external, resident: resident() }
    },
    close: () => socket.close(),
  }
}

async function inspectorAddress(port: number): Promise<string> {
  for (let attempt = 0; ; attempt++) {
    try {
      const [target] = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()
      return target.webSocketDebuggerUrl
    } catch (error) {
      if (attempt === 100) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
