'use client'
/** Sends and stops runs, turns and groups of samples, for the composer and the buttons of an outcome. */
import { useState } from 'react'
import type { useViewState } from '#components/shell/view-state.ts'
import type { RunOpening } from '#lib/api/run-request.ts'
import { SERVER_TOKENIZER } from '#lib/api/server-tokenizer.ts'
import { ApiError } from '#lib/browser/api.ts'
import type { PromptWithImages } from '#lib/share/settings/prompt-draft.ts'
import type { PromptOpening } from '#lib/share/settings/prompt-opening.ts'
import { FIRST_QUESTION, type FieldErrors, requestOf, type Setup } from '#lib/share/settings/setup.ts'
import type { DraftChange } from '../use-prompt-draft.ts'
import type { NextStep } from './next-steps.ts'
import type { ShownRun } from './use-displayed-run.ts'

interface SendingOptions {
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
type SentContent =
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
  const { rollout, group, trajectory, isRunning, runningSample } = shown
  /** A problem with the key of the trajectory that it belongs to; it is not shown for another trajectory. */
  const [problemOfKey, setProblemOfKey] = useState<{ readonly problem: ApiError; readonly key: string | undefined }>()
  const setProblem = (problem: ApiError | undefined) => setProblemOfKey(problem && { problem, key: view.key })
  /** Cancels a start that waits for its answer; undefined if no start is waiting. */
  const [starting, setStarting] = useState<AbortController>()
  const [isStopping, setIsStopping] = useState(false)

  const send: RunControls['send'] = async (using = setup, content) => {
    // A second click on a button that is still visible must do nothing.
    if (starting || isRunning) return
    const request = requestOf(using)
    if (!request.ok) {
      setProblem(settingsProblem(request.errors))
      return
    }
    // The code is loaded while the request is in progress.
    prepare(request.samples * (request.servers?.length ?? 1)).catch(() => {})
    const given = content?.kind === 'prompt' ? { ...draft, images: [], ...content.prompt } : draft
    const { question, images = [] } = given
    const continued = trajectory && trajectory.segments.length > 0 ? view.key : undefined
    const ownServer = group.rows.find(({ key }) => key === view.key)?.server
    const controller = new AbortController()
    setProblem(undefined)
    setIsStopping(false)
    setStarting(controller)
    try {
      const first = continued === undefined ? await firstPrompt(given, request.opening) : undefined
      if (first && !first.ok) {
        setProblem(new ApiError(0, 'BAD_PROMPT', first.why, 'Correct it in the prompt.'))
        return
      }
      // The next turn has another question. A draft that was edited but not sent is kept for the next run,
      // and so is a question of the user if text or ids were sent instead.
      const isDone = continued !== undefined || draft.mode === 'question' || question === FIRST_QUESTION
      if (content === undefined && isDone) onDraft({ question: '', images: [] })
      if (first && content === undefined && (request.samples > 1 || request.servers || request.reward)) {
        const { samples, servers, reward } = request
        const { server, ...settings } = request.settings
        const where = servers ? { servers } : server !== undefined && { server }
        const rollouts = { ...first.opening, ...settings, ...where, samples, ...(reward && { reward }) }
        const { groupId, firstKey } = await group.start(rollouts, controller.signal)
        await view.setSample({ key: firstKey, group: groupId }, 'push')
        return
      }
      if (continued !== undefined) group.leaveOut(continued)
      const started = await rollout.start(
        {
          ...(first
            ? first.opening
            : {
                seenSegments: trajectory?.segments.length,
                ...(content?.kind === 'resume'
                  ? { resume: true }
                  : content?.kind !== 'tool-results' && { prompt: question, ...(images.length > 0 && { images }) }),
              }),
          ...request.settings,
          // A sample of one of several servers stays on its server.
          ...(ownServer !== undefined && { server: ownServer }),
        },
        continued,
        controller.signal,
      )
      if (continued === undefined) await view.setKey(started.trajectoryId)
    } catch (error) {
      // If the user has typed since then, the new text is kept.
      if (content === undefined) onDraft((now) => (now.question === '' ? { question, images } : {}))
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
          return onSetup(step.setup)
        case 'send':
          onSetup(step.setup)
          return send(step.setup, step.prompt ? { kind: 'prompt', prompt: step.prompt } : { kind: 'tool-results' })
        case 'resume':
          return send(step.setup, { kind: 'resume' })
        case 'take-back':
          return onDraft(step.prompt)
        case 'write':
          return document.querySelector<HTMLElement>('[data-composer]')?.focus()
        case 'start-over':
          return startOver()
      }
    },
  }
}

/** Adds the first prompt to the settings. Only questions are handled without this module, which is loaded for other prompts. */
async function firstPrompt(draft: PromptWithImages, opening: RunOpening): Promise<PromptOpening> {
  return (await import('#lib/share/settings/prompt-opening.ts')).withPrompt(draft, opening)
}

const settingsProblem = (errors: FieldErrors): ApiError =>
  new ApiError(
    0,
    'BAD_SETTINGS',
    `These settings cannot be sent: ${Object.entries(errors)
      .map(([field, what]) => `${field} ${what}`)
      .join('; ')}.`,
    'Correct them in the setup.',
  )
