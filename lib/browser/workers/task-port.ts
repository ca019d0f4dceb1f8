import { createTaskHost, type FromWorker, type HostDeps, type ToWorker } from './task-host.ts'

/** Runs these tasks in this worker. */
export function serveTasks<Held>(deps: Pick<HostDeps<Held>, 'tasks' | 'hold'>): void {
  const port = self as unknown as {
    postMessage(message: FromWorker): void
    onmessage: (event: MessageEvent<ToWorker>) => void
  }
  // A message channel provides a turn of the event loop, because timers are delayed to 4 ms.
  const { port1: here, port2: there } = new MessageChannel()
  const waiting: (() => void)[] = []
  here.onmessage = () => waiting.shift()?.()
  const receive = createTaskHost({
    ...deps,
    post: (message) => port.postMessage(message),
    nextTurn: () =>
      new Promise((resolve) => {
        waiting.push(resolve)
        there.postMessage(undefined)
      }),
    now: () => performance.now(),
  })
  port.onmessage = ({ data }) => receive(data)
}
