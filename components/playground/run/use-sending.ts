'use client'
/** What the composer sends and stops, and what the buttons under an outcome do: as runs, turns and groups of samples. */
import { useState } from 'react'
import type { useViewState } from '#components/shell/view-state.ts'
import type { RunOpening } from '#lib/api/run-request.ts'
import { SERVER_TOKENIZER } from '#lib/api/server-tokenizer.ts'
import { ApiError } from '#lib/browser/api.ts'
import type { PromptDraft } from '#lib/share/settings/prompt-draft.ts'
import type { PromptOpening } from '#lib/share/settings/prompt-opening.ts'
import { FIRST_QUESTION, type FieldErrors, requestOf, type Setup } from '#lib/share/settings/setup.ts'
import type { DraftChange } from '../use-prompt-draft.ts'
import type { NextStep } from './next-steps.ts'
import type { ShownRun } from './use-shown-run.ts'

interface SendingOptions {
  readonly view: ReturnType<typeof useViewState>
  readonly shown: ShownRun
  readonly setup: Setup
  readonly onSetup: (setup: Setup) => void
  readonly draft: PromptDraft
  readonly onDraft: (change: DraftChange) => void
  /** Fetches what will show the run. It is tried again when that is shown. */
  readonly prepare: (samples: number) => Promise<unknown>
}

export interface Sending {
  readonly state: 'ready' | 'starting' | 'running' | 'stopping'
  /** Why the last one could not be sent or stopped. */
  readonly problem: ApiError | undefined
  readonly forgetProblem: () => void
  /**
   * `asked`: in place of what stands in the composer. unread: the results of the last calls, and nothing else; resume: the last
   * response goes on.
   */
  readonly send: (using?: Setup, asked?: Partial<PromptDraft> | 'unread' | 'resume') => Promise<void>
  readonly sendWithServerTokenizer: () => Promise<void>
  readonly stop: () => Promise<void>
  /** Does it, and tells what the server refuses. */
  readonly call: (asked: () => Promise<unknown>) => Promise<void>
  readonly startOver: () => void
  readonly takeStep: (step: NextStep) => unknown
}

export function useSending({ view, shown, setup, onSetup, draft, onDraft, prepare }: SendingOptions): Sending {
  const { rollout, group, trajectory, isRunning, runningSample } = shown
  /** With the trajectory that was shown then: it says nothing of another. */
  const [told, setTold] = useState<{ readonly problem: ApiError; readonly key: string | undefined }>()
  const setProblem = (problem: ApiError | undefined) => setTold(problem && { problem, key: view.key })
  /** Gives up a start that waits for its answer; undefined where none does. */
  const [starting, setStarting] = useState<AbortController>()
  const [isStopping, setIsStopping] = useState(false)

  const send: Sending['send'] = async (using = setup, asked) => {
    // A second click on a button that has not gone yet.
    if (starting || isRunning) return
    const request = requestOf(using)
    if (!request.ok) {
      setProblem(settingsProblem(request.errors))
      return
    }
    // Beside the request.
    prepare(request.samples).catch(() => {})
    const given = typeof asked === 'object' ? { ...draft, ...asked } : draft
    const { question } = given
    const continued = trajectory && trajectory.segments.length > 0 ? view.key : undefined
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
      // The next turn is another question; what was edited rather than asked stays for the next run.
      // A question of the user's that was not asked, since text or ids were, is kept.
      const isDone = continued !== undefined || draft.mode === 'question' || question === FIRST_QUESTION
      if (asked === undefined && isDone) onDraft({ question: '' })
      if (first && asked === undefined && (request.samples > 1 || request.reward)) {
        const { samples, reward } = request
        const rollouts = { ...first.opening, ...request.settings, samples, ...(reward && { reward }) }
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
                ...(asked === 'resume' ? { resume: true } : asked !== 'unread' && { prompt: question }),
              }),
          ...request.settings,
        },
        continued,
        controller.signal,
      )
      if (continued === undefined) await view.setKey(started.trajectoryId)
    } catch (error) {
      // Whoever has typed on meanwhile keeps that.
      if (asked === undefined) onDraft((now) => (now.question === '' ? { question } : {}))
      if (error instanceof ApiError) setProblem(error)
      else if (!controller.signal.aborted) throw error
    } finally {
      setStarting((now) => (now === controller ? undefined : now))
    }
  }
  const call: Sending['call'] = async (asked) => {
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
    problem: told?.key === view.key ? told?.problem : undefined,
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
          return send(step.setup, step.prompt ?? 'unread')
        case 'resume':
          return send(step.setup, 'resume')
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

/** Nothing but a question is read here: what reads the others is loaded with them. */
async function firstPrompt(draft: PromptDraft, opening: RunOpening): Promise<PromptOpening> {
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
