'use client'
/** Sends and stops runs, turns and groups of samples, for the composer and the buttons of an outcome. */
import { useState } from 'react'
import type { useViewState } from '#components/shell/view-state.ts'
import { SERVER_TOKENIZER } from '#lib/api/server-tokenizer.ts'
import { ApiError, unreachableError } from '#lib/browser/api.ts'
import type { PromptWithImages } from '#lib/share/settings/prompt-draft.ts'
import { FIRST_QUESTION, type Setup } from '#lib/share/settings/setup.ts'
import type { DraftChange } from '../use-prompt-draft.ts'
import type { NextStep } from './next-steps.ts'
import type { ShownRun } from './use-displayed-run.ts'

/** What sending reads and changes. */
export interface SendingOptions {
  readonly view: ReturnType<typeof useViewState>
  readonly shown: ShownRun
  readonly setup: Setup
  readonly onSetup: (setup: Setup) => void
  readonly draft: PromptWithImages
  readonly onDraft: (change: DraftChange) => void
  /** Loads the code that shows the run. A failed load is tried again when the run is shown. */
  readonly prepare: (samples: number) => Promise<unknown>
}

/** What a request sends in place of the composer's draft. */
export type SentContent =
  | { readonly kind: 'prompt'; readonly prompt: Partial<PromptWithImages> }
  /** The results of the last calls, without a question. */
  | { readonly kind: 'tool-results' }
  /** The last response continues. */
  | { readonly kind: 'resume' }

/** State of sending, and the functions that start and stop runs. */
export interface RunControls {
  readonly state: 'ready' | 'starting' | 'running' | 'stopping'
  /** Why the last request to send or stop failed. */
  readonly problem: ApiError | undefined
  readonly forgetProblem: () => void
  /** Sends `content`. Omitted: the composer's draft. */
  readonly send: (using?: Setup, content?: SentContent) => Promise<void>
  readonly sendWithServerTokenizer: () => Promise<void>
  readonly stop: () => Promise<void>
  /** Awaits a request and shows the refusal of the server. */
  readonly call: (asked: () => Promise<unknown>) => Promise<void>
  readonly startOver: () => void
  readonly takeStep: (step: NextStep) => unknown
}

/** Returns functions that send prompts with the setup, and the state of the current request. */
export function useSending({ view, shown, setup, onSetup, draft, onDraft, prepare }: SendingOptions): RunControls {
  const { rollout, group, isRunning, runningSample } = shown
  /** A problem with the key of the trajectory that it belongs to; it is not shown for another trajectory. */
  const [problemOfKey, setProblemOfKey] = useState<{ readonly problem: ApiError; readonly key: string | undefined }>()
  const setProblem = (problem: ApiError | undefined) => setProblemOfKey(problem && { problem, key: view.key })
  /** Cancels a start that waits for its answer; undefined if no start is waiting. */
  const [starting, setStarting] = useState<AbortController>()
  const [isStopping, setIsStopping] = useState(false)

  const send: RunControls['send'] = async (using = setup, content) => {
    // A second click on a button that is still visible must do nothing.
    if (starting || isRunning) return
    const controller = new AbortController()
    setProblem(undefined)
    setIsStopping(false)
    setStarting(controller)
    try {
      const { sendRun } = await loadSending()
      await sendRun({ view, shown, setup: using, draft, onDraft, prepare, content, signal: controller.signal })
    } catch (error) {
      if (error instanceof ApiError) setProblem(error)
      else if (!controller.signal.aborted) throw error
    } finally {
      setStarting((now) => (now === controller ? undefined : now))
    }
  }
  const call: RunControls['call'] = async (asked) => {
    setProblem(undefined)
    try {
      await asked()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setProblem(error)
    }
  }
  const startOver = () => {
    rollout.reset()
    group.reset()
    setProblem(undefined)
    onDraft(({ question }) => (question === '' ? { question: FIRST_QUESTION } : {}))
    view.setKey(undefined)
  }
  return {
    state: isStopping ? 'stopping' : isRunning ? 'running' : starting ? 'starting' : 'ready',
    problem: problemOfKey?.key === view.key ? problemOfKey?.problem : undefined,
    forgetProblem: () => setProblem(undefined),
    send,
    sendWithServerTokenizer: () => {
      const changed = { ...setup, tokenizer: SERVER_TOKENIZER }
      onSetup(changed)
      return send(changed)
    },
    stop: async () => {
      if (starting) {
        starting.abort()
        return
      }
      setIsStopping(true)
      await call(() => (runningSample ? group.stop(runningSample) : rollout.stop())).finally(() => setIsStopping(false))
    },
    call,
    startOver,
    takeStep: (step) => {
      switch (step.kind) {
        case 'change':
          onSetup(step.setup)
          return focusIfLost('[data-composer]')
        case 'send':
          onSetup(step.setup)
          focusNext('[data-send]')
          return send(step.setup, step.prompt ? { kind: 'prompt', prompt: step.prompt } : { kind: 'tool-results' })
        case 'resume':
          focusNext('[data-send]')
          return send(step.setup, { kind: 'resume' })
        case 'take-back':
          return onDraft(step.prompt)
        case 'write':
          return document.querySelector<HTMLElement>('[data-composer]')?.focus()
        case 'start-over':
          focusNext('[data-composer]')
          return startOver()
      }
    },
  }
}

/**
 * Moves the focus to an element of the composer in the next frame: the button of a step disappears with its outcome, and the
 * element that follows, such as Stop, is drawn only then.
 */
const focusNext = (selector: string) =>
  requestAnimationFrame(() => document.querySelector<HTMLElement>(selector)?.focus())

/** Moves the focus in the next frame as `focusNext` does, if the button of the step is no longer there. */
const focusIfLost = (selector: string) =>
  requestAnimationFrame(() => {
    if (document.activeElement === document.body) document.querySelector<HTMLElement>(selector)?.focus()
  })

/** Loads the code that sends. It is loaded when the composer is used, because a first visit does not need it. Throws ApiError. */
export const loadSending = () =>
  import('./send-run.ts').catch(() => {
    throw unreachableError()
  })
