/** Lets the jobs take turns on one model: a token each, or a piece of a prompt. */
import { type Chunk, emptyChunk, type Finish, type Job, MAX_RUNNING, MAX_WAITING } from './job.ts'
import type { OnnxModel } from './onnx-model.ts'
import { createPrefixCache } from './prefix-cache.ts'
import { createSequence, type Sequence } from './sequence.ts'
import { type Tally, tallyHeld, tallyPrompt } from './tally.ts'
import type { Vocabulary } from './vocabulary.ts'

export interface Engine {
  /** Its chunks are emitted until one has a finish. */
  run(job: Job): void
  /** Ends a job with what it has, at once; unknown keys may be given. */
  abort(key: number): void
  /** Forgets all prefixes. */
  flush(): void
}

/** 58,000 tokens of the built-in model, at 4.6 KB each. */
const CACHE_BYTES = 256 * 2 ** 20

export function createEngine(
  model: OnnxModel,
  vocabulary: Vocabulary,
  stopIds: ReadonlySet<number>,
  emit: (key: number, chunk: Chunk) => void,
  tally: Tally,
): Engine {
  const cache = createPrefixCache(model.empty, CACHE_BYTES)
  const waiting = new Map<number, Job>()
  const running = new Map<number, Sequence>()
  let turns: Promise<void> | undefined

  const admit = (): void => {
    for (const [key, job] of waiting) {
      if (running.size >= MAX_RUNNING) return
      waiting.delete(key)
      const known = cache.find(job.promptIds, reusable(job))
      tallyPrompt(tally, job.promptIds.length, known.length)
      running.set(key, createSequence(job, known, vocabulary, stopIds))
    }
  }

  const finish = (key: number, sequence: Sequence, chunk: Chunk): void => {
    running.delete(key)
    cache.keep(sequence.ids, sequence.keyValues())
    emit(key, chunk)
  }

  const advance = async (key: number, sequence: Sequence): Promise<void> => {
    const { ids, keep } = sequence.next()
    try {
      const pass = await model.forward(ids, sequence.keyValues(), keep)
      // Aborted meanwhile: session.run waits for a turn of the event loop, in which messages arrive.
      if (running.get(key) !== sequence) return
      const chunk = sequence.advance(pass)
      if (chunk?.finish) return finish(key, sequence, chunk)
      // Others with the same prompt, the samples of a group, need not wait until this one is done.
      if (pass.keyValues.length === sequence.job.promptIds.length) cache.keep(sequence.ids, pass.keyValues)
      if (chunk) emit(key, chunk)
    } catch (error) {
      if (running.delete(key)) emit(key, sequence.end({ kind: 'failed', status: 500, message: shortMessage(error) }))
    }
  }

  const takeTurns = async (): Promise<void> => {
    while (waiting.size > 0 || running.size > 0) {
      admit()
      for (const [key, sequence] of running) await advance(key, sequence)
      tallyHeld(
        tally,
        running.values().reduce((sum, sequence) => sum + sequence.keyValues().length, 0),
      )
    }
    turns = undefined
  }

  return {
    run(job) {
      if (running.size + waiting.size >= MAX_RUNNING + MAX_WAITING) return emit(job.key, emptyChunk(QUEUE_FULL))
      waiting.set(job.key, job)
      if (!turns) turns = takeTurns()
    },
    abort(key) {
      const sequence = running.get(key)
      if (sequence) return finish(key, sequence, sequence.end({ kind: 'aborted', stage: 'running' }))
      if (waiting.delete(key)) emit(key, emptyChunk({ kind: 'aborted', stage: 'waiting' }))
    },
    flush: () => cache.clear(),
  }
}

/** The last prompt token is always computed, and so is every position whose logits are asked for. */
function reusable({ promptIds, logprobs }: Job): number {
  return Math.min(promptIds.length - 1, logprobs?.start ?? Number.POSITIVE_INFINITY)
}

const QUEUE_FULL: Finish = { kind: 'failed', status: 503, message: 'The request queue is full.' }

/** onnxruntime may print whole tensors. */
export function shortMessage(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}
