/**
 * A tokenizer and its templates for the thread that serves everybody. What is quick is computed here, within a budget; what
 * is not goes to another thread, and the computation is run again with its result (Codec.settle).
 */

import type { PromptEncoder } from '#lib/rollout/prompt/prompt.ts'
import type { SlowRenders } from '#lib/sglang/server/server-encoder.ts'
import { type CompiledTemplate, type RenderInput, TemplateError } from '#lib/templates/chat-template.ts'
import { PyDict } from '#lib/templates/jinja/python/values.ts'
import type { Budget } from '#lib/templates/jinja/rendering.ts'
import type { LoadedTokenizer } from '#lib/tokenizer/files/tokenizer-files.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import { ThreadError } from '../limited-thread.ts'
import { type SentInput, sentInput } from './lab-answers.ts'
import type { LabThread } from './lab-thread.ts'

export interface ThreadedTokenizer {
  /** The same for the same tokenizer. Outside of `settle` it computes everything here. */
  readonly loaded: LoadedTokenizer
  /** Runs a computation that renders and encodes with `loaded`, and changes nothing but its result. */
  readonly settle: NonNullable<PromptEncoder['settle']>
}

/** Of the serving thread's own time, for all renders of a computation together; a step takes 50 ns. */
const QUICK: Budget = { steps: 400_000, size: 262_144, milliseconds: 25 }

/** What one computation may take of the other thread, in all. */
const LONGEST_MS = 30_000

/** UTF-16 units of a text that are encoded here: the slowest take 6 µs each, those of short words a twentieth of it. */
const QUICK_TEXT = 2_048
const QUICK_WORDS = 65_536
/** A run of letters, of blanks or of signs that is long enough to be slow: tokenizers merge it pair by pair. */
const LONG_RUN = /[\p{L}\p{M}]{64,}|\s{64,}|[^\s\p{L}\p{M}\p{N}]{64,}/gu

export const isQuickText = (text: string, byWords: boolean): boolean => {
  if (text.length <= QUICK_TEXT) return true
  if (!byWords || text.length > QUICK_WORDS) return false
  let slow = 0
  for (const [run] of text.matchAll(LONG_RUN)) slow += run.length
  return slow <= QUICK_TEXT
}

/** What one run of a computation has used here, and what it lacks. */
interface Computation {
  readonly known: Known
  /** Milliseconds that it has taken of this thread, once they may be too many; 0 before. */
  readonly now: () => number
  lack:
    | { readonly kind: 'render'; readonly key: string; readonly template: string; readonly input: SentInput }
    | { readonly kind: 'encode'; readonly text: string }
    | undefined
}

interface Known {
  readonly renders: Map<string, string | TemplateError>
  readonly texts: Map<string, readonly number[]>
}

/** What a template that is given for a server's own tokenizer may take here, and where it renders otherwise. */
export const slowRenders = (thread: Pick<LabThread, 'ask'>): SlowRenders => ({
  budget: () => ({ ...QUICK, now: stopwatch() }),
  render: (template, input, signal) =>
    thread
      .ask({ kind: 'render', tokenizer: undefined, template, input: sentInput(input) }, signal)
      .catch((error: unknown) => {
        throw error instanceof ThreadError ? tooSlow(error.message) : error
      }),
})

/** Leaves a computation that cannot go on; never seen outside of settle. */
class Lacking extends Error {
  override readonly name = 'Lacking'
}

/**
 * The time that a computation takes, from now on. Until the clock of the wall says that it may be too long it is 0: processor
 * time costs a system call, and on a busy machine the time of the wall has gone to others.
 */
function stopwatch(): Computation['now'] {
  const began = performance.now()
  const before = process.threadCpuUsage()
  return () => {
    if (performance.now() - began <= QUICK.milliseconds) return 0
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1000
  }
}

/** `thread`: where it may take long. Kept by tokenizer, so that what is known of it is known to all its users. */
export function createThreadedTokenizers(
  thread: Pick<LabThread, 'ask'>,
): (loaded: LoadedTokenizer, name: string) => ThreadedTokenizer {
  const made = memoizeByIdentity((loaded: LoadedTokenizer) => {
    const threads = new Map<string, ThreadedTokenizer>()
    return (name: string): ThreadedTokenizer => {
      const known = threads.get(name) ?? threaded(loaded, name, thread)
      threads.set(name, known)
      return known
    }
  })
  return (loaded, name) => made(loaded)(name)
}

function threaded(loaded: LoadedTokenizer, name: string, thread: Pick<LabThread, 'ask'>): ThreadedTokenizer {
  let running: Computation | undefined
  const lack = (what: NonNullable<Computation['lack']>): never => {
    if (running) running.lack = what
    throw new Lacking()
  }

  const encode = (text: string): number[] => {
    const { tokenizer } = loaded
    if (!running || isQuickText(text, tokenizer.encodesWords ?? false)) return tokenizer.encode(text)
    const ids = running.known.texts.get(text)
    return ids ? [...ids] : lack({ kind: 'encode', text })
  }

  const wrapped = memoizeByIdentity((template: CompiledTemplate): CompiledTemplate => {
    /** Length of the shortest conversation that was not quick. */
    let slow = Number.POSITIVE_INFINITY
    const render = (input: RenderInput, budget?: Budget): string => {
      if (!running || budget) return template.render(input, budget)
      const { known, now } = running
      const left = QUICK.milliseconds - now()
      if (left > 0 && (slow === Number.POSITIVE_INFINITY || lengthOf(input) < slow)) {
        try {
          return template.render(input, { ...QUICK, milliseconds: left, now })
        } catch (error) {
          if (!(error instanceof TemplateError) || error.className !== 'BudgetError') throw error
          slow = Math.min(slow, lengthOf(input))
        }
      }
      const sent = sentInput(input)
      const key = JSON.stringify([template.text, sent])
      const rendered = known.renders.get(key)
      if (rendered instanceof TemplateError) throw rendered
      return rendered ?? lack({ kind: 'render', key, template: template.text, input: sent })
    }
    return { text: template.text, render, trace: template.trace }
  })

  const own: Tokenizer = Object.defineProperties({} as Tokenizer, {
    // The getter of `frame` stays one.
    ...Object.getOwnPropertyDescriptors(loaded.tokenizer),
    encode: { value: encode, enumerable: true },
  })

  const fetchInto = async (known: Known, what: NonNullable<Computation['lack']>, signal: AbortSignal) => {
    if (what.kind === 'encode') {
      known.texts.set(what.text, await thread.ask({ kind: 'encode', tokenizer: name, text: what.text }, signal))
      return
    }
    const { key, template, input } = what
    const rendered = await thread.ask({ kind: 'render', tokenizer: name, template, input }, signal).catch((error) => {
      if (error instanceof TemplateError) return error
      throw error
    })
    known.renders.set(key, rendered)
  }

  return {
    loaded: {
      ...loaded,
      tokenizer: own,
      template: (hasTools) => {
        const template = loaded.template(hasTools)
        return template && wrapped(template)
      },
      compile: (text, use) => wrapped(loaded.compile(text, use)),
    },
    async settle(compute, signal) {
      const known: Known = { renders: new Map(), texts: new Map() }
      const began = performance.now()
      for (;;) {
        const computation: Computation = { known, now: stopwatch(), lack: undefined }
        running = computation
        try {
          return compute()
        } catch (error) {
          if (!computation.lack) throw error
        } finally {
          running = undefined
        }
        if (performance.now() - began > LONGEST_MS) throw tooSlow(`it took longer than ${LONGEST_MS / 1000} s`)
        await fetchInto(known, computation.lack, signal).catch((error) => {
          throw error instanceof ThreadError ? tooSlow(error.message) : error
        })
      }
    },
  }
}

const tooSlow = (why: string): TemplateError =>
  new TemplateError(`rendering and encoding: ${why}`, { className: 'BudgetError' })

/** Of all contents. */
function lengthOf({ messages }: RenderInput): number {
  let length = 0
  for (const message of messages) {
    const content = message instanceof PyDict ? message.get('content') : message.content
    if (typeof content === 'string') length += content.length
  }
  return length
}
