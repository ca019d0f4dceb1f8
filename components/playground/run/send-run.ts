/** Sends a run, a turn or a group of samples. This module is loaded when the composer is used. */
import { ApiError } from '#lib/browser/api.ts'
import { withPrompt } from '#lib/share/settings/prompt-opening.ts'
import { FIRST_QUESTION } from '#lib/share/settings/setup.ts'
import { type FieldErrors, requestOf } from '#lib/share/settings/setup-request.ts'
import type { SendingOptions, SentContent } from './use-sending.ts'

interface Sent extends Omit<SendingOptions, 'onSetup'> {
  /** Omitted: the draft is sent. */
  readonly content: SentContent | undefined
  readonly signal: AbortSignal
}

/** Sends a request and shows what it starts. Throws ApiError, or the signal's reason; the draft is then as before. */
export async function sendRun({ view, shown, setup, draft, onDraft, prepare, content, signal }: Sent): Promise<void> {
  const { rollout, group, trajectory } = shown
  const request = requestOf(setup)
  if (!request.ok) throw settingsProblem(request.errors)
  // The code is loaded while the request is in progress.
  prepare(request.samples * (request.servers?.length ?? 1)).catch(() => {})
  const prompt = content?.kind === 'prompt' ? { ...draft, images: [], ...content.prompt } : draft
  const { question, images = [] } = prompt
  const continued = trajectory && trajectory.segments.length > 0 ? view.key : undefined
  const ownServer = group.rows.find(({ key }) => key === view.key)?.server
  const first = continued === undefined ? withPrompt(prompt, request.opening) : undefined
  if (first && !first.ok) throw new ApiError(0, 'BAD_PROMPT', first.why, 'Correct it in the prompt.')
  try {
    // The next turn has another question. A draft that was edited but not sent is kept for the next run,
    // and so is a question of the user if text or ids were sent instead.
    const isDone = continued !== undefined || draft.mode === 'question' || question === FIRST_QUESTION
    if (content === undefined && isDone) onDraft({ question: '', images: [] })
    if (first && content === undefined && (request.samples > 1 || request.servers || request.reward)) {
      const { samples, servers, reward } = request
      const { server, ...settings } = request.settings
      const where = servers ? { servers } : server !== undefined && { server }
      const rollouts = { ...first.opening, ...settings, ...where, samples, ...(reward && { reward }) }
      const { groupId, firstKey } = await group.start(rollouts, signal)
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
      signal,
    )
    if (continued === undefined) await view.setKey(started.trajectoryId)
  } catch (error) {
    // If the user has typed since then, the new text is kept.
    if (content === undefined) onDraft((now) => (now.question === '' ? { question, images } : {}))
    throw error
  }
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
