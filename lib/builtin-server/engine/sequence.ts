/**
 * One job under way, without the model: what to compute next, and what follows from the result. Whoever owns the model
 * may so take the next positions of several sequences in one pass.
 */
import type { Vocabulary } from '#lib/builtin-server/models/vocabulary.ts'
import { bestFirst, type Distribution, distribution, logprobOf } from './distribution.ts'
import type { Grammar } from './grammar.ts'
import type { InputLogprobs, Job, JobChunk, JobFinish, Ranking } from './job.ts'
import { createOutputText } from './output-text.ts'
import { createSampler } from './sampler.ts'

export interface Sequence {
  readonly job: Job
  /** The prompt and what was generated; the last one may not be computed yet. */
  readonly ids: readonly number[]
  /** Positions whose keys and values are there. */
  computed(): number
  /** All but the last id is computed: the next pass gives a token. */
  isDecoding(): boolean
  next(): { readonly ids: readonly number[]; readonly keep: 'all' | 'last' }
  /** Takes in the logits of the pass over next(), of `count` ids. The chunk is there when one is due. */
  advance(logits: readonly Float32Array[], count: number): JobChunk | undefined
  /** What is left to report when it ends for a reason from outside. */
  end(finish: JobFinish): JobChunk
}

/** Bounds the memory of a pass (attention takes heads × 512 × context floats) and the time until others have a turn. */
export const PASS_TOKENS = 512
/** Logits of a pass at most, 64 MB: a prompt's logprobs over a vocabulary of 150,000 are read 110 tokens at a time. */
const PASS_LOGITS = 2 ** 24

/** What all jobs of a model share. */
export interface Setting {
  readonly vocabulary: Vocabulary
  /** Of the model. */
  readonly stopIds: ReadonlySet<number>
}

/** `known`: so many of the prompt's first positions need not be computed. */
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
    // SGLang's order: the length first, then texts and patterns, then stop tokens.
    if (count >= sampling.maxNewTokens) return { kind: 'length' }
    if (stop !== undefined) return { kind: 'stop', matched: stop }
    // Under a grammar they come when the text is complete.
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
      if (wanted?.ids) unreported.asked.push(logprobsOf(from, wanted.ids))
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
  readonly top: Ranking[]
  readonly asked: number[][]
}

const unreportedTokens = (): Unreported => ({ ids: [], logprobs: [], top: [], asked: [] })

const NO_INPUT: InputLogprobs = { ids: [], logprobs: [], top: [], asked: [] }

interface InputReader {
  readonly rows: InputLogprobs
  /** Logits of the positions from `first` on; each says how likely the token after it was. */
  read(logits: readonly Float32Array[], first: number): void
}

/** Logprobs of the prompt's own tokens, always at temperature 1 and without penalties or bias. */
function inputReader(promptIds: readonly number[], start: number, wanted: NonNullable<Job['logprobs']>): InputReader {
  const hasAny = start < promptIds.length
  const logprobs: (number | null)[] = hasAny ? [null] : []
  const top: (Ranking | null)[] = hasAny && wanted.top > 0 ? [null] : []
  let weights: Float64Array | undefined
  const asked: (number[] | null)[] = hasAny && wanted.ids ? [null] : []
  return {
    rows: { ids: promptIds.slice(start), logprobs, top, asked },
    read(logits, first) {
      logits.forEach((row, index) => {
        const position = first + index
        const id = promptIds[position + 1]
        if (position < start || id === undefined) return
        weights ??= new Float64Array(row.length)
        const from = distribution(row, 1, weights)
        logprobs.push(logprobOf(from, id))
        if (wanted.top > 0) top.push(ranking(from, wanted.top))
        if (wanted.ids) asked.push(logprobsOf(from, wanted.ids))
      })
    },
  }
}

function ranking(from: Distribution, count: number): Ranking {
  const ids = bestFirst(from.logits, count)
  return { ids, logprobs: logprobsOf(from, ids) }
}

const logprobsOf = (from: Distribution, ids: readonly number[]): number[] => ids.map((id) => logprobOf(from, id))
