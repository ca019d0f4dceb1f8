'use client'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { baselineRequest, whyNotGreedy } from '#lib/analysis/compare/chat-baseline.ts'
import type { Side } from '#lib/analysis/compare/side.ts'
import { runRefusals } from '#lib/api/engine/refusals.ts'
import type { RunRequest } from '#lib/api/run-request.ts'
import { ApiError } from '#lib/browser/api.ts'
import { knownStatusOptions, serversOptions } from '#lib/browser/queries.ts'
import { type BaselineProgress, runChatBaseline } from '#lib/browser/rollout/chat-baseline.ts'
import type { Refusal } from '#lib/sampling/refusal.ts'
import { imagePartsOf } from '#lib/trajectory/images/image-boxes.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

interface BaselineDialogProps {
  /** The recorded run for which a baseline is made, and its key. */
  readonly trajectory: TrajectoryView
  readonly runKey: string
  readonly onPair: (left: Side, right: Side) => void
  readonly onClose: () => void
}

type State =
  | { readonly kind: 'asking' }
  | { readonly kind: 'running'; readonly progress: BaselineProgress | undefined }
  | { readonly kind: 'failed'; readonly error: ApiError }
  | { readonly kind: 'done'; readonly key: string }

/** Dialog that runs the same agent over the server's chat endpoint and compares what the server read with what was sampled. */
export function BaselineDialog({ trajectory, runKey, onPair, onClose }: BaselineDialogProps) {
  const [state, setState] = useState<State>({ kind: 'asking' })
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  const baseline = baselineRequest(trajectory)
  const refusal = useRunRefusal(baseline.ok ? baseline.value : undefined)
  const chance = whyNotGreedy(trajectory)
  const recorded = (key: string): Side => ({ key, as: { kind: 'recorded' } })
  const itsOwn = (key: string) => onPair(recorded(key), { key, as: { kind: 'read' } })
  const start = async () => {
    const controller = new AbortController()
    running.current = controller
    setState({ kind: 'running', progress: undefined })
    try {
      const key = await runChatBaseline(trajectory, {
        signal: controller.signal,
        onProgress: (progress) => setState({ kind: 'running', progress }),
      })
      if (controller.signal.aborted) return
      // If the two runs may differ by chance, the user chooses how to continue; otherwise there is no choice.
      if (chance === undefined) setState({ kind: 'done', key })
      else itsOwn(key)
    } catch (error) {
      if (controller.signal.aborted) return
      if (!(error instanceof ApiError)) throw error
      setState({ kind: 'failed', error })
    }
  }
  return (
    <Dialog title="The chat baseline" onClose={onClose}>
      <div className="grid gap-4">
        <p className="text-dim">
          Runs the same question, agent, tools and sampling over the server’s /v1/chat/completions, as a pipeline that
          keeps messages does. The server reports the ids that it read in each turn. Where they differ from the sampled
          ids, there is drift.
        </p>
        {chance !== undefined && <p className="text-dim text-xs">{chance}</p>}
        {!baseline.ok && <Banner tone="bad" title={baseline.why} hint={baseline.hint} />}
        {refusal && <Banner tone="note" title={refusal.detail} hint={refusal.hint} />}
        {state.kind === 'failed' && <Banner tone="bad" title={state.error.message} hint={state.error.hint} />}
        {/* The numbers of a run change with each token, so only its end is announced. */}
        <p
          role="status"
          aria-live={state.kind === 'running' ? 'off' : 'polite'}
          className="text-faint text-xs empty:hidden"
        >
          {state.kind === 'running' &&
            (state.progress
              ? `${countText(state.progress.replies)} replies, ${countText(state.progress.tokens)} tokens…`
              : 'Starting…')}
          {state.kind === 'done' && 'The run has ended and is stored in the library.'}
        </p>
        <div className="flex flex-wrap justify-end gap-2">
          {state.kind === 'done' ? (
            <>
              <Button onClick={() => onPair(recorded(runKey), recorded(state.key))}>Compare with the TITO run</Button>
              <Button look="primary" onClick={() => itsOwn(state.key)}>
                Compare sampled and read ids
              </Button>
            </>
          ) : state.kind === 'running' ? (
            <Button onClick={onClose}>Stop</Button>
          ) : (
            baseline.ok && (
              <Button look="primary" data-first-focus disabled={refusal !== undefined} onClick={start}>
                Run the chat baseline
              </Button>
            )
          )}
        </div>
      </div>
    </Dialog>
  )
}

/** Returns why the server that a request names cannot run it; undefined if it can, or if its answer is pending. */
function useRunRefusal(request: RunRequest | undefined): Refusal | undefined {
  const { data } = useQuery(serversOptions())
  const name = request?.server ?? data?.default
  const { data: status } = useQuery({
    ...knownStatusOptions(name),
    enabled: request !== undefined && name !== undefined,
  })
  if (!request) return undefined
  if (data && !data.servers.some((server) => server.name === name))
    return {
      detail: `The run was sampled on ${name}, which is not among the servers here.`,
      hint: 'Add it under this name on the page Servers.',
    }
  return status?.state === 'ready'
    ? runRefusals(status, {
        ...request,
        images: request.messages?.some((message) => imagePartsOf(message).length > 0),
      })[0]
    : undefined
}
