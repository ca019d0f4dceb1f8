/** Runs the engine in its own thread, because session.run blocks the thread that calls it. */
import { parentPort, workerData } from 'node:worker_threads'
import { onnxModel } from '#lib/builtin-server/models/onnx-model.ts'
import { openOnnxSession } from '#lib/builtin-server/models/onnx-session.ts'
import { isPaddingInvariant } from '#lib/builtin-server/models/padding.ts'
import { createEngine, shortMessage } from './engine.ts'
import { type GrammarCompiler, loadGrammars } from './grammar.ts'
import type { ChunkOf, EngineStart, FromEngine, ToEngine } from './job.ts'
import { runGuarded } from './native-gate.ts'

if (!parentPort) throw new Error('worker.ts is run as a worker thread')
const port = parentPort
const post = (message: FromEngine): void => port.postMessage(message)
const { files, vocabulary, stopIds, capacity, gate, tally } = workerData as EngineStart

/** The chunks of one pass are sent in one message, because every message costs the server's thread a turn. */
let chunks: ChunkOf[] = []
const emit = (key: number, chunk: ChunkOf['chunk']): void => {
  if (chunks.length === 0) queueMicrotask(send)
  chunks.push({ key, chunk })
}
const send = (): void => {
  post({ type: 'chunks', chunks })
  chunks = []
}

try {
  const opened = await runGuarded(gate, () => openOnnxSession(files))
  const graph = onnxModel(opened.session, opened.graph)
  const gated: typeof graph = { ...graph, forward: (...pass) => runGuarded(gate, () => graph.forward(...pass)) }
  const allStopIds = new Set([...stopIds, ...opened.stopIds])
  let grammars: Promise<GrammarCompiler> | undefined
  const engine = createEngine({
    model: gated,
    isPaddingInvariant: await isPaddingInvariant(gated),
    vocabulary,
    stopIds: allStopIds,
    capacity,
    grammars() {
      grammars ??= loadGrammars(vocabulary, allStopIds)
      return grammars
    },
    emit,
    tally,
  })
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
