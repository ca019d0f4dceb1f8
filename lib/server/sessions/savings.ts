/** What a session saved, compared with a chat pipeline that renders the whole history for every call. It is computed when it is requested. */
import { setImmediate } from 'node:timers/promises'
import type * as z from 'zod/mini'
import type { sessionSavingsSchema } from '#lib/api/sessions/savings.ts'
import { computeSettled, firstPrompt } from '#lib/rollout/prompt/prompt.ts'
import { savingsOf } from '#lib/session/forest/chat-pipeline.ts'
import { messagesOfPath, pathOf } from '#lib/session/forest/forest.ts'
import { pickLeaves } from '#lib/session/forest/samples.ts'
import type { Session } from './session.ts'

type SessionSavings = z.infer<typeof sessionSavingsSchema>
type LeafSavings = SessionSavings['leaves'][number]

/** Results by the key of the trajectory and its number of segments: a path that has not grown is not compared again. */
const known = new WeakMap<Session, Map<string, LeafSavings>>()

/** Returns the savings of each leaf, and of all leaves together. Throws like SessionServing. */
export async function sessionSavings(session: Session, signal: AbortSignal): Promise<SessionSavings> {
  const { nodes } = session.forest
  const results = known.get(session) ?? new Map<string, LeafSavings>()
  known.set(session, results)
  const leaves: LeafSavings[] = []
  for (const { sequence } of session.settings.mode === 'observe'
    ? []
    : pickLeaves(nodes, ['all'], session.living()).leaves) {
    const found = session.path(sequence)
    if (!found) continue
    const key = `${sequence} ${found.trajectory.segments.length}`
    const savings = results.get(key) ?? (await savingsOfLeaf(session, sequence, found.trajectory, signal))
    results.set(key, savings)
    leaves.push(savings)
    // Other requests run between two leaves.
    await setImmediate()
  }
  const total = (valueOfLeaf: (leaf: LeafSavings) => number) => leaves.reduce((sum, leaf) => sum + valueOfLeaf(leaf), 0)
  return {
    leaves,
    total: {
      drifts: total(({ drifts }) => drifts),
      trainedTokens: total(({ trainedTokens }) => trainedTokens),
      cachedTokens: total(({ cachedTokens }) => cachedTokens),
      rows: total(({ rows }) => rows),
    },
  }
}

async function savingsOfLeaf(
  session: Session,
  leaf: number,
  trajectory: NonNullable<ReturnType<Session['path']>>['trajectory'],
  signal: AbortSignal,
): Promise<LeafSavings> {
  const { nodes } = session.forest
  const { tools, template } = trajectory.model
  const settings = { tools, options: template?.options ?? {} }
  const serving = await session.serving.find(settings, signal)
  const promptEncoder = await session.serving.encoderOf(trajectory, serving, signal)
  const histories = pathOf(nodes, leaf).map(({ parent, messages }) => [
    ...(parent === undefined ? [] : messagesOfPath(nodes, parent)),
    ...messages,
  ])
  const { drifts, trainedTokens, cachedTokens, rows, caveats } = await computeSettled(
    promptEncoder,
    () =>
      savingsOf(
        trajectory,
        histories,
        (messages) => firstPrompt(messages, settings, promptEncoder).ids,
        promptEncoder.tokenizer,
      ),
    signal,
  )
  return { node: leaf, drifts, trainedTokens, cachedTokens, rows, caveats: [...caveats] }
}
