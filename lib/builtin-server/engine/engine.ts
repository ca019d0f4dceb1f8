/**
 * Continuous batching: prompts are read one by one, and all sequences that write are decoded together, one token each in a pass. Sequences
 * join and leave between passes.
 */
import { gatherRows, longest, type RowPositions, release } from '#lib/builtin-server/models/key-values.ts'
import type { OnnxModel } from '#lib/builtin-server/models/onnx-model.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { excerpt } from '#lib/util/text/excerpt.ts'
import { type Grammar, type GrammarCompiler, GrammarError } from './grammar.ts'
import { type Capacity, emptyChunk, type Job, type JobChunk, type JobFinish, QUEUE_FULL } from './job.ts'
import { createPrefixCache } from './prefix-cache.ts'
import { createSequence, PASS_TOKENS, type Sequence, type Setting } from './sequence.ts'
import { type EngineCounters, setRunningTokens, tallyPrompt } from './tally.ts'

/** The scheduler of jobs over one model. */
export interface Engine {
  /** Starts a job; its chunks are emitted until one has a finish. */
  run(job: Job): void
  /** Ends a job at once with its tokens so far; an unknown key is ignored. */
  abort(key: number): void
  /** Empties the prefix cache. */
  flush(): void
}

/** The model and the settings of an engine. */
export interface EngineParts extends Setting {
  readonly model: OnnxModel
  /** Whether rows of different lengths may share a pass. */
  readonly isPaddingInvariant: boolean
  readonly capacity: Capacity
  /** Loads the grammars; called for the first grammar. */
  readonly grammars: () => Promise<GrammarCompiler>
  readonly emit: (key: number, chunk: JobChunk) => void
  readonly tally: EngineCounters
}

/** Returns an engine without jobs. */
export function createEngine(parts: EngineParts): Engine {
  const { model, capacity, emit, tally } = parts
  const cache = createPrefixCache(model.empty, capacity.cacheBytes)
  const waiting = new Map<number, Job>()
  const running = new Map<number, Row>()
  let turns: Promise<void> | undefined
  /** Beat of the last pass of the rows that write, from 0 to BAR - 1. */
  let beat = 0

  const finish = (row: Row, chunk: JobChunk): void => {
    const { job, ids } = row.sequence
    running.delete(job.key)
    cache.keep(ids, placeOf(row))
    emit(job.key, chunk)
  }

  /** Processes the logits of one row of a pass; an error in it affects no other row. */
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

  /** Runs one pass over the next ids of each row, which are equally many, and returns their number. Rows that write have a `beat`. */
  const pass = async (rows: readonly Row[], beat?: number): Promise<number> => {
    const next = rows.map(({ sequence }) => sequence.next())
    const { ids, keep } = elementAt(next, 0)
    try {
      const places = rows.map(placeOf)
      const past = gatherRows(places, beat === undefined ? undefined : lengthOn(beat, places, model.contextLength))
      const inputs = next.map((own, index) => ({
        ids: own.ids,
        padding: past.length - elementAt(rows, index).sequence.computed(),
      }))
      const { logits, keyValues } = await model.forward(inputs, past, keep)
      rows.forEach((row, index) => {
        // The row was aborted in the meantime: session.run waits for a turn of the event loop, in which messages arrive.
        if (running.get(row.sequence.job.key) !== row) return
        row.keyValues = keyValues
        row.index = index
        advance(row, elementAt(logits, index), ids.length)
      })
      // Its rows are in the result now, or have ended.
      release(past)
    } catch (error) {
      fail(rows, error)
    }
    return ids.length
  }

  /** Moves the first waiting job to a place; a job with an invalid grammar fails instead. Does nothing if no job waits. */
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
   * Reads prompts, but only so many tokens that rows which write do not wait long. Each prompt begins when the one before it has been read,
   * and so finds their common prefix in the cache: the samples of one prompt read it once.
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
      for (const row of decoding) row.isWriting ||= beat === 0 || !parts.isPaddingInvariant
      const writing = decoding.filter(({ isWriting }) => isWriting)
      for (const rows of batchesOf(writing, parts.isPaddingInvariant)) {
        const there = rows.filter(({ sequence }) => running.has(sequence.job.key))
        if (there.length > 0) await pass(there, parts.isPaddingInvariant ? beat : undefined)
      }
      setRunningTokens(
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

/** A sequence and its keys and values, which are in the result of its last pass. */
interface Row {
  readonly sequence: Sequence
  keyValues: RowPositions['keyValues']
  index: number
  /** Whether it has joined the rows that are decoded together. */
  isWriting: boolean
}

const placeOf = ({ sequence, keyValues, index }: Row): RowPositions => ({
  keyValues,
  row: index,
  length: sequence.computed(),
})

/**
 * onnxruntime adds positions in groups of four: a row padded by a multiple of four has the same logits to the last bit, and by any other
 * number it does not. Rows therefore begin to write only on the first of four beats, with a length that is a multiple of four, so the rows
 * beside them change nothing.
 */
const BAR = 4

/** Returns the smallest length that contains all rows and fits the beat; past the end of the context, the beat is ignored. */
function lengthOn(beat: number, places: readonly RowPositions[], contextLength: number): number {
  const least = longest(places)
  const length = least + ((((beat - least) % BAR) + BAR) % BAR)
  return length < contextLength ? length : least
}

/** This many positions of padding cost less than another pass. */
const CHEAP_PADDING = 128

/**
 * Groups rows into passes. All rows of a pass are as long as its longest one, so a short row beside a long one costs as much as two long
 * ones: a pass contains rows down to half of its longest. All rows grow alike, so small padding stays small, and rows are copied only when
 * one joins or leaves.
 */
export function batchesOf<T extends { readonly sequence: Pick<Sequence, 'computed'> }>(
  rows: readonly T[],
  isPaddingInvariant: boolean,
): T[][] {
  if (!isPaddingInvariant) return rows.map((row) => [row])
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

/**
 * Returns how many cached positions may be used: the last prompt token is always computed, and so is every position whose logits are
 * requested.
 */
function reusable({ promptIds, logprobs }: Job): number {
  return Math.min(promptIds.length - 1, logprobs?.start ?? Number.POSITIVE_INFINITY)
}

const REFUSED: JobFinish = { kind: 'failed', status: 503, message: QUEUE_FULL }

/** Returns at most 300 characters of an error's message, because onnxruntime may print whole tensors. */
export function shortMessage(error: unknown): string {
  return excerpt(error instanceof Error ? error.message : String(error), 300)
}
