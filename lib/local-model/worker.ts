/** The engine's thread. session.run blocks the thread it is called on, so it must not be the server's. */
import { parentPort, workerData } from 'node:worker_threads'
import { createEngine, shortMessage } from './engine.ts'
import type { EngineStart, FromEngine, ToEngine } from './job.ts'
import { inside } from './native-gate.ts'
import { onnxModel } from './onnx-model.ts'
import { openSession } from './open-session.ts'

if (!parentPort) throw new Error('worker.ts is run as a worker thread')
const port = parentPort
const post = (message: FromEngine): void => port.postMessage(message)
const { model, cacheFolder, vocabulary, stopIds, gate, tally } = workerData as EngineStart

try {
  const opened = await inside(gate, () => openSession(model, cacheFolder))
  const graph = onnxModel(opened.session, opened.graph)
  const engine = createEngine(
    { ...graph, forward: (...pass) => inside(gate, () => graph.forward(...pass)) },
    vocabulary,
    new Set([...stopIds, ...opened.stopIds]),
    (key, chunk) => post({ type: 'chunk', key, chunk }),
    tally,
  )
  port.on('message', (message: ToEngine) => {
    switch (message.type) {
      case 'run':
        return engine.run(message.job)
      case 'abort':
        return engine.abort(message.key)
      case 'flush':
        return engine.flush()
    }
  })
  post({ type: 'loaded', facts: opened.facts })
} catch (error) {
  post({ type: 'load-failed', message: shortMessage(error) })
  port.close()
}
