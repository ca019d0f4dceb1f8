/**
 * A tokenizer and its templates for the thread that serves requests. Quick work is computed here within a budget; slow work runs in another
 * thread, and the computation is repeated with its result (PromptEncoder.settle).
 */

import type { SlowRenders } from '#lib/engine/tokenizer/server-encoder.ts'
import type { PromptEncoder } from '#lib/rollout/prompt/prompt.ts'
import { type CompiledTemplate, type RenderInput, TemplateError } from '#lib/templates/chat-template.ts'
import { PyDict } from '#lib/templates/jinja/python/values.ts'
import type { RenderLimits } from '#lib/templates/jinja/rendering.ts'
import { processorClock } from '#lib/time-limit/processor-clock.ts'
import type { LoadedTokenizer } from '#lib/tokenizer/files/tokenizer-files.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import { ThreadError } from '../limited-thread.ts'
import { type RenderInputJson, toRenderInputJson } from './lab-answers.ts'
import type { LabThread } from './lab-thread.ts'

/** A tokenizer whose slow work runs in another thread. */
export interface ThreadedTokenizer {
  /** The same object for the same tokenizer. Outside of `settle`, it computes everything on this thread. */
  readonly loaded: LoadedTokenizer
  /** Runs a computation that renders and encodes with `loaded`, and that has no other effect than its result. */
  readonly settle: NonNullable<PromptEncoder['settle']>
}

/** Budget on the serving thread for all renders of a computation together; a step takes 50 ns. */
const QUICK: RenderLimits = { steps: 400_000, size: 262_144, milliseconds: 25 }

/** Milliseconds that one computation may spend on the other thread in total. */
const LONGEST_MS = 30_000

/** Longest texts that are encoded here, in UTF-16 units: the slowest text takes 6 µs a unit, a text of short words a twentieth of it. */
const QUICK_TEXT = 2_048
const QUICK_WORDS = 65_536
/** A run of letters, blanks or signs that is long enough to be slow, because tokenizers merge it pair by pair. */
const LONG_RUN = /[\p{L}\p{M}]{64,}|\s{64,}|[^\s\p{L}\p{M}\p{N}]{64,}/gu

/** Returns whether a text is encoded fast enough for this thread. `byWords`: the tokenizer encodes each word separately. */
export const isQuickText = (text: string, byWords: boolean): boolean => {
  if (text.length <= QUICK_TEXT) return true
  if (!byWords || text.length > QUICK_WORDS) return false
  let slow = 0
  for (const [run] of text.matchAll(LONG_RUN)) slow += run.length
  return slow <= QUICK_TEXT
}

/** The state of one attempt of a computation: the results so far, and the one that is missing. */
interface Computation {
  readonly known: Known
  /** Returns the milliseconds that the attempt has taken on this thread; 0 while they cannot be too many. */
  readonly now: () => number
  lack:
    | { readonly kind: 'render'; readonly key: string; readonly template: string; readonly input: RenderInputJson }
    | { readonly kind: 'encode'; readonly text: string }
    | undefined
}

interface Known {
  readonly renders: Map<string, string | TemplateError>
  readonly texts: Map<string, readonly number[]>
}

/** Returns the budget of a template that the user gives for a server's own tokenizer, and how to render it in the other thread. */
export const slowRenders = (thread: Pick<LabThread, 'ask'>): SlowRenders => ({
  budget: () => ({ ...QUICK, now: processorClock(QUICK.milliseconds) }),
  render: (template, input, signal) =>
    thread
      .ask({ kind: 'render', tokenizer: undefined, template, input: toRenderInputJson(input) }, signal)
      .catch((error: unknown) => {
        throw error instanceof ThreadError ? tooSlow(error.message) : error
      }),
})

/** Leaves an attempt that needs a missing result; never visible outside of settle. */
class MissingResult extends Error {
  override readonly name = 'MissingResult'
}

/**
 * Returns a function that wraps tokenizers, whose slow work runs in `thread`. All users of a tokenizer share one wrapper and its cached
 * results.
 */
export function createThreadedTokenizers(
  thread: Pick<LabThread, 'ask'>,
): (loaded: LoadedTokenizer, name: string) => ThreadedTokenizer {
  const threadedEncoder = memoizeByIdentity((loaded: LoadedTokenizer) => {
    const threads = new Map<string, ThreadedTokenizer>()
    return (name: string): ThreadedTokenizer => {
      const known = threads.get(name) ?? wrapTokenizer(loaded, name, thread)
      threads.set(name, known)
      return known
    }
  })
  return (loaded, name) => threadedEncoder(loaded)(name)
}

function wrapTokenizer(loaded: LoadedTokenizer, name: string, thread: Pick<LabThread, 'ask'>): ThreadedTokenizer {
  let running: Computation | undefined
  const lack = (what: NonNullable<Computation['lack']>): never => {
    if (running) running.lack = what
    throw new MissingResult()
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
    const render = (input: RenderInput, budget?: RenderLimits): string => {
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
      const sent = toRenderInputJson(input)
      // The messages are JSON already, and may be long.
      const key = JSON.stringify([template.text, { ...sent, messages: '' }]) + sent.messages
      const rendered = known.renders.get(key)
      if (rendered instanceof TemplateError) throw rendered
      return rendered ?? lack({ kind: 'render', key, template: template.text, input: sent })
    }
    return { text: template.text, render, trace: template.trace }
  })

  const own: Tokenizer = Object.defineProperties({} as Tokenizer, {
    // The descriptors keep the getter of `frame`.
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
        const computation: Computation = { known, now: processorClock(QUICK.milliseconds), lack: undefined }
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

/** Returns the length of all contents in UTF-16 units. */
function lengthOf({ messages }: RenderInput): number {
  let length = 0
  for (const message of messages) {
    const content = message instanceof PyDict ? message.get('content') : message.content
    if (typeof content === 'string') length += content.length
  }
  return length
}
