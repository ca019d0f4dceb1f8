/**
 * One job without the model: what to compute next, and what follows from the result. The engine can therefore compute the next positions of
 * several sequences in one pass.
 */
import type { Vocabulary } from '#lib/builtin-server/models/vocabulary.ts'
import { bestFirst, type Distribution, distribution, logprobOf } from './distribution.ts'
import type { Grammar } from './grammar.ts'
import type { InputLogprobs, Job, JobChunk, JobFinish, TokenRanking } from './job.ts'
import { createOutputText } from './output-text.ts'
import { createSampler } from './sampler.ts'

/** The state of one job. */
export interface Sequence {
  readonly job: Job
  /** Ids of the prompt and of the generated tokens; the last one may not be computed yet. */
  readonly ids: readonly number[]
  /** Returns the number of positions whose keys and values are computed. */
  computed(): number
  /** Returns whether all ids but the last are computed, so that the next pass gives a token. */
  isDecoding(): boolean
  next(): { readonly ids: readonly number[]; readonly keep: 'all' | 'last' }
  /** Processes the logits of the pass over next(), which had `count` ids. Returns a chunk when one is due. */
  advance(logits: readonly Float32Array[], count: number): JobChunk | undefined
  /** Returns the unreported rest when the job ends for an external reason. */
  end(finish: JobFinish): JobChunk
}

/** Tokens of a pass: limits its memory (attention takes heads × 512 × context floats) and the time for which others wait. */
export const PASS_TOKENS = 512
/** Largest number of logits of a pass, 64 MB: logprobs of a prompt over a vocabulary of 150,000 are read 110 tokens at a time. */
const PASS_LOGITS = 2 ** 24

/** Settings that all jobs of a model share. */
export interface Setting {
  readonly vocabulary: Vocabulary
  /** Ids with which the model ends a generation. */
  readonly stopIds: ReadonlySet<number>
}

/** Returns the state of a new job. `known` is the number of the prompt's first positions that are in the cache. */
export function createSequence(job: Job, known: number, setting: Setting, grammar: Grammar | undefined): Sequence {
  const { vocabulary } = setting
  const { sampling, logprobs: wanted } = job
  const stopIds = new Set([...setting.stopIds, ...sampling.stopIds])
  const sampler = createSampler(sampling, stopIds, grammar)
  const text = createOutputText(vocabulary, sampling)
  const ids = [...job.promptIds]
  const input = wanted?.start === undefined ? undefined : inputReader(job.promptIds, wanted.start, wanted)
  let computed = known
  let unreported = unreportedTokens()
  let isFirst = true

  const report = (finish: JobFinish | undefined): JobChunk => {
    const chunk: JobChunk = {
      ...unreported,
      text: finish ? text.end(finish.kind === 'stop' ? finish.matched : undefined) : text.take(),
      cachedTokens: known,
      input: isFirst && wanted ? (input?.rows ?? NO_INPUT) : undefined,
      finish,
    }
    isFirst = false
    unreported = unreportedTokens()
    return chunk
  }

  const finishWith = (id: number): JobFinish | undefined => {
    const count = ids.length - job.promptIds.length
    const stop = text.read(id)
    // The order is SGLang's: the length first, then texts and patterns, then stop tokens.
    if (count >= sampling.maxNewTokens) return { kind: 'length' }
    if (stop !== undefined) return { kind: 'stop', matched: stop }
    // With a grammar, stop ids come only when the text is complete.
    if ((grammar?.isBinding() || !sampling.ignoreStopIds) && stopIds.has(id)) return { kind: 'stop', matched: id }
    return undefined
  }

  const isDue = (): boolean => {
    if (job.chunkTokens === undefined || text.isHeld()) return false
    return isFirst || unreported.ids.length >= job.chunkTokens
  }

  return {
    job,
    ids,
    computed: () => computed,
    isDecoding: () => computed + 1 === ids.length,
    next() {
      const from = computed
      if (!input || from + 1 >= job.promptIds.length) return { ids: ids.slice(from, from + PASS_TOKENS), keep: 'last' }
      const size = Math.max(1, Math.min(PASS_TOKENS, Math.floor(PASS_LOGITS / vocabulary.ends.length)))
      return { ids: ids.slice(from, from + size), keep: 'all' }
    },
    advance(logits, count) {
      computed += count
      input?.read(logits, computed - logits.length)
      if (computed < ids.length) return undefined
      const from = sampler.read(logits.at(-1) as Float32Array)
      if (wanted && wanted.top > 0) unreported.top.push(ranking(from, wanted.top))
      if (wanted?.ids) unreported.requested.push(logprobsOf(from, wanted.ids))
      if (sampling.maxNewTokens === 0) return report({ kind: 'length' })
      const id = sampler.choose(from)
      ids.push(id)
      unreported.ids.push(id)
      if (wanted) unreported.logprobs.push(logprobOf(from, id))
      const finish = finishWith(id)
      if (finish?.kind !== 'stop' || finish.matched !== id || sampling.keepsStop) text.show(id)
      return finish || isDue() ? report(finish) : undefined
    },
    end: report,
  }
}

interface Unreported {
  readonly ids: number[]
  readonly logprobs: number[]
  readonly top: TokenRanking[]
  readonly requested: number[][]
}

const unreportedTokens = (): Unreported => ({ ids: [], logprobs: [], top: [], requested: [] })

const NO_INPUT: InputLogprobs = { ids: [], logprobs: [], top: [], requested: [] }

interface InputReader {
  readonly rows: InputLogprobs
  /** Reads the logits of the positions from `first` on; each gives the logprob of the token after it. */
  read(logits: readonly Float32Array[], first: number): void
}

/** Returns a reader of the prompt's own logprobs, always at temperature 1 and without penalties or bias. */
function inputReader(promptIds: readonly number[], start: number, wanted: NonNullable<Job['logprobs']>): InputReader {
  const hasAny = start < promptIds.length
  const logprobs: (number | null)[] = hasAny ? [null] : []
  const top: (TokenRanking | null)[] = hasAny && wanted.top > 0 ? [null] : []
  let weights: Float64Array | undefined
  const requested: (number[] | null)[] = hasAny && wanted.ids ? [null] : []
  return {
    rows: { ids: promptIds.slice(start), logprobs, top, requested },
    read(logits, first) {
      logits.forEach((row, index) => {
        const position = first + index
        const id = promptIds[position + 1]
        if (position < start || id === undefined) return
        weights ??= new Float64Array(row.length)
        const from = distribution(row, 1, weights)
        logprobs.push(logprobOf(from, id))
        if (wanted.top > 0) top.push(ranking(from, wanted.top))
        if (wanted.ids) requested.push(logprobsOf(from, wanted.ids))
      })
    },
  }
}

function ranking(from: Distribution, count: number): TokenRanking {
  const ids = bestFirst(from.logits, count)
  return { ids, logprobs: logprobsOf(from, ids) }
}

const logprobsOf = (from: Distribution, ids: readonly number[]): number[] => ids.map((id) => logprobOf(from, id))
