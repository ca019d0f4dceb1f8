/**
 * Continuous batching: prompts are read one by one, what writes is decoded together, a token each in one pass. Sequences
 * join and leave between passes.
 */
import { gathered, longest, type RowPositions, release } from '#lib/builtin-server/models/key-values.ts'
import type { OnnxModel } from '#lib/builtin-server/models/onnx-model.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { type Grammar, type GrammarCompiler, GrammarError } from './grammar.ts'
import { type Capacity, emptyChunk, type Job, type JobChunk, type JobFinish, QUEUE_FULL } from './job.ts'
import { createPrefixCache } from './prefix-cache.ts'
import { createSequence, PASS_TOKENS, type Sequence, type Setting } from './sequence.ts'
import { type Tally, tallyHeld, tallyPrompt } from './tally.ts'

export interface Engine {
  /** Its chunks are emitted until one has a finish. */
  run(job: Job): void
  /** Ends a job with what it has, at once; unknown keys may be given. */
  abort(key: number): void
  /** Forgets all prefixes. */
  flush(): void
}

export interface EngineParts extends Setting {
  readonly model: OnnxModel
  /** Rows of different lengths may share a pass. */
  readonly heedsPadding: boolean
  readonly capacity: Capacity
  /** Asked for when the first grammar comes. */
  readonly grammars: () => Promise<GrammarCompiler>
  readonly emit: (key: number, chunk: JobChunk) => void
  readonly tally: Tally
}

export function createEngine(parts: EngineParts): Engine {
  const { model, capacity, emit, tally } = parts
  const cache = createPrefixCache(model.empty, capacity.cacheBytes)
  const waiting = new Map<number, Job>()
  const running = new Map<number, Row>()
  let turns: Promise<void> | undefined
  /** Of the last pass of those that write, from 0 to BAR - 1. */
  let beat = 0

  const finish = (row: Row, chunk: JobChunk): void => {
    const { job, ids } = row.sequence
    running.delete(job.key)
    cache.keep(ids, placeOf(row))
    emit(job.key, chunk)
  }

  /** The logits of one row of a pass; what goes wrong with it is no concern of the others. */
  const advance = (row: Row, logits: readonly Float32Array[], count: number): void => {
    const { key } = row.sequence.job
    try {
      const chunk = row.sequence.advance(logits, count)
      if (chunk?.finish) finish(row, chunk)
      else if (chunk) emit(key, chunk)
    } catch (error) {
      fail([row], error)
    }
  }

  const fail = (rows: readonly Row[], error: unknown): void => {
    for (const { sequence } of rows)
      if (running.delete(sequence.job.key))
        emit(sequence.job.key, sequence.end({ kind: 'failed', status: 500, message: shortMessage(error) }))
  }

  /** One pass over the next ids of each row, which are equally many. Gives how many those are. `beat`: of rows that write. */
  const pass = async (rows: readonly Row[], beat?: number): Promise<number> => {
    const next = rows.map(({ sequence }) => sequence.next())
    const { ids, keep } = elementAt(next, 0)
    try {
      const places = rows.map(placeOf)
      const past = gathered(places, beat === undefined ? undefined : lengthOn(beat, places, model.contextLength))
      const inputs = next.map((own, index) => ({
        ids: own.ids,
        padding: past.length - elementAt(rows, index).sequence.computed(),
      }))
      const { logits, keyValues } = await model.forward(inputs, past, keep)
      rows.forEach((row, index) => {
        // Aborted meanwhile: session.run waits for a turn of the event loop, in which messages arrive.
        if (running.get(row.sequence.job.key) !== row) return
        row.keyValues = keyValues
        row.index = index
        advance(row, elementAt(logits, index), ids.length)
      })
      // Its rows stand in the result now, or have ended.
      release(past)
    } catch (error) {
      fail(rows, error)
    }
    return ids.length
  }

  /** A job that waits takes a place; undefined where none waits, none is free, or it cannot begin. */
  const begin = async (): Promise<void> => {
    const [[key, job] = []] = waiting
    if (key === undefined || !job) return
    const grammar = await grammarOf(job)
    if (!waiting.delete(key)) return
    if (grammar instanceof GrammarError)
      return emit(key, emptyChunk({ kind: 'failed', status: 400, message: grammar.message }))
    const known = cache.find(job.promptIds, reusable(job))
    tallyPrompt(tally, job.promptIds.length, known.length)
    const sequence = createSequence(job, known.length, parts, grammar)
    running.set(key, { sequence, keyValues: known, index: 0, isWriting: false })
  }

  const grammarOf = async ({ sampling }: Job): Promise<Grammar | GrammarError | undefined> => {
    if (!sampling.grammar) return undefined
    try {
      return (await parts.grammars()).compile(sampling.grammar, sampling.grammarBehind)
    } catch (error) {
      return error instanceof GrammarError ? error : new GrammarError(shortMessage(error))
    }
  }

  /**
   * Reads prompts, so many tokens of them that who writes is not kept waiting. Each begins when the one before it is
   * read, and so finds in the cache what both begin with: the samples of one prompt read it once.
   */
  const readPrompts = async (): Promise<void> => {
    for (let tokens = 0; tokens < PASS_TOKENS; ) {
      const row = running.values().find(({ sequence }) => !sequence.isDecoding())
      if (row) {
        tokens += await pass([row])
        const { job, ids } = row.sequence
        if (row.sequence.computed() === job.promptIds.length) cache.keep(ids, placeOf(row))
      } else if (waiting.size > 0 && running.size < capacity.running) await begin()
      else return
    }
  }

  const takeTurns = async (): Promise<void> => {
    while (waiting.size > 0 || running.size > 0) {
      await readPrompts()
      const decoding = [...running.values()].filter(({ sequence }) => sequence.isDecoding())
      beat = decoding.some(({ isWriting }) => isWriting) ? (beat + 1) % BAR : 0
      for (const row of decoding) row.isWriting ||= beat === 0 || !parts.heedsPadding
      const writing = decoding.filter(({ isWriting }) => isWriting)
      for (const rows of batchesOf(writing, parts.heedsPadding)) {
        const there = rows.filter(({ sequence }) => running.has(sequence.job.key))
        if (there.length > 0) await pass(there, parts.heedsPadding ? beat : undefined)
      }
      tallyHeld(
        tally,
        running.values().reduce((sum, { sequence }) => sum + sequence.computed(), 0),
      )
    }
    turns = undefined
  }

  return {
    run(job) {
      if (running.size + waiting.size >= capacity.running + capacity.waiting) return emit(job.key, emptyChunk(REFUSED))
      waiting.set(job.key, job)
      if (!turns) turns = takeTurns()
    },
    abort(key) {
      const row = running.get(key)
      if (row) return finish(row, row.sequence.end({ kind: 'aborted', stage: 'running' }))
      if (waiting.delete(key)) emit(key, emptyChunk({ kind: 'aborted', stage: 'waiting' }))
    },
    flush: () => cache.clear(),
  }
}

/** A sequence and where its keys and values stand: in the result of the last pass that it was part of. */
interface Row {
  readonly sequence: Sequence
  keyValues: RowPositions['keyValues']
  index: number
  /** It has joined those that are decoded together. */
  isWriting: boolean
}

const placeOf = ({ sequence, keyValues, index }: Row): RowPositions => ({
  keyValues,
  row: index,
  length: sequence.computed(),
})

/**
 * onnxruntime adds up over positions four at a time, so that a row padded by a multiple of four has the same logits to the
 * last bit, and by any other number has not. Rows begin to write on the first of four beats only, with a length that is a
 * multiple of four: who is beside them changes nothing then.
 */
const BAR = 4

/** The least length that holds all rows and is right for the beat; past the end of the context none is. */
function lengthOn(beat: number, places: readonly RowPositions[], contextLength: number): number {
  const least = longest(places)
  const length = least + ((((beat - least) % BAR) + BAR) % BAR)
  return length < contextLength ? length : least
}

/** So many positions of padding cost less than another pass. */
const CHEAP_PADDING = 128

/**
 * Rows of one pass are as long as the longest, so a short one beside a long one costs what two long ones do: a pass takes
 * rows down to half of its longest. All grow alike, so that a padding that is little stays so: rows are copied when one
 * comes or goes, hardly ever between.
 */
export function batchesOf<T extends { readonly sequence: Pick<Sequence, 'computed'> }>(
  rows: readonly T[],
  heedsPadding: boolean,
): T[][] {
  if (!heedsPadding) return rows.map((row) => [row])
  const batches: T[][] = []
  let least = 0
  for (const row of rows.toSorted((a, b) => b.sequence.computed() - a.sequence.computed())) {
    const length = row.sequence.computed()
    const last = batches.at(-1)
    if (last && length >= least) last.push(row)
    else {
      batches.push([row])
      least = Math.min(length / 2, length - CHEAP_PADDING)
    }
  }
  return batches
}

/** The last prompt token is always computed, and so is every position whose logits are asked for. */
function reusable({ promptIds, logprobs }: Job): number {
  return Math.min(promptIds.length - 1, logprobs?.start ?? Number.POSITIVE_INFINITY)
}

const REFUSED: JobFinish = { kind: 'failed', status: 503, message: QUEUE_FULL }

/** onnxruntime may print whole tensors. */
export function shortMessage(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}
