/** Checks the setup of the playground, and why the server cannot serve its next call. */
import type { ShownStatus } from '#components/shell/server-state.tsx'
import { logprobKindRefusal, runRefusals } from '#lib/api/engine/refusals.ts'
import type { FieldRefusal } from '#lib/api/engine/scoring-refusals.ts'
import type { PromptWithImages } from '#lib/share/settings/prompt-draft.ts'
import type { Setup } from '#lib/share/settings/setup.ts'
import { type FieldErrors, requestOf } from '#lib/share/settings/setup-request.ts'
import { imageDataOf } from '#lib/trajectory/images/image-boxes.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** The next call, without its settings. */
export interface NextCall {
  readonly status: ShownStatus
  /** The trajectory that the call continues; undefined if a new one begins. */
  readonly trajectory: TrajectoryView | undefined
  readonly draft: Pick<PromptWithImages, 'mode' | 'images'>
}

/** Returns the reasons; empty if the server can serve the call, or if nothing is known about the server. */
export function callRefusals(setup: Setup, { status, trajectory, draft }: NextCall): readonly FieldRefusal[] {
  const request = requestOf(setup)
  if (!request.ok || status.state !== 'ready') return []
  const { mode, images = [] } = draft
  const isQuestion = trajectory !== undefined || mode === 'question'
  const refusals = runRefusals(status, {
    ...request.settings,
    endpoint: trajectory ? endpointOf(trajectory) : setup.endpoint,
    images: (isQuestion && images.length > 0) || (trajectory !== undefined && imageDataOf(trajectory).length > 0),
    rawPrompt: !isQuestion && mode !== 'conversation',
  })
  const mixed = trajectory && logprobKindRefusal(trajectory, status)
  return mixed ? [...refusals, mixed] : refusals
}

const endpointOf = ({ provenance }: TrajectoryView): Setup['endpoint'] =>
  provenance.kind === 'rollout' && provenance.endpoint === 'chat' ? 'chat' : 'generate'

/** Returns the errors of the setup's fields: values that no request can have, else sampling parameters that the server refuses. */
export function setupErrors(setup: Setup, call: NextCall): FieldErrors {
  const request = requestOf(setup)
  return request.ok ? samplingErrors(callRefusals(setup, call)) : request.errors
}

const samplingErrors = (refusals: readonly FieldRefusal[]): FieldErrors =>
  Object.fromEntries(
    refusals.flatMap(({ field, detail }) => {
      const [part, name] = field.split('.')
      return part === 'sampling' && name !== undefined ? [[name, detail]] : []
    }),
  )
