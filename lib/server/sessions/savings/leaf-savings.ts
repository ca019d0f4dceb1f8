/** What one leaf of a session saved, compared with a chat pipeline that renders the whole history for every call. */
import { setImmediate } from 'node:timers/promises'
import type { LeafSavings } from '#lib/api/sessions/savings.ts'
import { computeSettled, firstPrompt, type PromptEncoder } from '#lib/rollout/prompt/prompt.ts'
import { vocabularyWriter } from '#lib/rollout/record/record.ts'
import { messagesOfPath, pathOf, type SessionNode } from '#lib/session/forest/forest.ts'
import { TemplateError } from '#lib/templates/chat-template.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { createMemory } from '#lib/util/bounded-memory.ts'
import { ThreadError } from '../../limited-thread.ts'
import type { SessionServing } from '../serving.ts'
import type { Session } from '../session.ts'
import type { SavingsThread } from './savings-question.ts'

/** Returns what a leaf saved; undefined if its trajectory was deleted. Throws like SessionServing. */
export type LeafComparison = (
  session: Session,
  leaf: number,
  serving: SessionServing,
  signal: AbortSignal,
) => Promise<LeafSavings | undefined>

/** Largest number of tokens of rendered prompts that are kept: a path that has grown by a call renders only its prompt. 4 bytes each. */
const MOST_KEPT_TOKENS = 8_000_000

/** Returns the function that compares leaves. It renders on this thread, a prompt at a time, and compares in `thread`. */
export function createLeafComparison(thread: Pick<SavingsThread, 'ask'>): LeafComparison {
  const rendered = createMemory<Int32Array>(MOST_KEPT_TOKENS)

  /** Returns the prompts of the calls of a path, and why a call has none. */
  const promptsOf = async (
    { id, createdAt, forest: { nodes } }: Session,
    path: readonly SessionNode[],
    render: (messages: Parameters<typeof firstPrompt>[0]) => Promise<readonly number[]>,
  ): Promise<{ readonly prompts: readonly Int32Array[]; readonly caveats: string[] }> => {
    const prompts: Int32Array[] = []
    for (const { sequence, parent, messages } of path) {
      const key = `${id} ${createdAt} ${sequence}`
      let prompt = rendered.get(key)
      if (!prompt) {
        try {
          const before = parent === undefined ? [] : messagesOfPath(nodes, parent)
          prompt = Int32Array.from(await render([...before, ...messages]))
        } catch (error) {
          if (!(error instanceof TemplateError)) throw error
          const why = `${error.className}: ${error.message}`
          return {
            prompts,
            caveats: [
              `The chat template refuses the messages of call ${prompts.length + 1} (${why}): only the calls before it are compared.`,
            ],
          }
        }
        rendered.set(key, prompt, prompt.length)
        // The calls of clients run between two renders.
        await setImmediate()
      }
      prompts.push(prompt)
    }
    return { prompts, caveats: [] }
  }

  return async (session, leaf, serving, signal) => {
    const trajectory = session.path(leaf)?.trajectory
    if (!trajectory) return undefined
    const { tools, template } = trajectory.model
    const settings = { tools, options: template?.options ?? {} }
    const encoder = await serving.encoderOf(trajectory, await serving.find(settings, signal), signal)
    const { prompts, caveats } = await promptsOf(session, pathOf(session.forest.nodes, leaf), (messages) =>
      computeSettled(encoder, () => firstPrompt(messages, settings, encoder).ids, signal),
    )
    const vocab = { ...trajectory.vocab, ...(await missingVocab(trajectory, prompts, encoder, signal)) }
    try {
      const counts = await thread.ask({ path: { ...trajectory, vocab }, prompts }, signal)
      return { node: leaf, ...counts, caveats }
    } catch (error) {
      if (!(error instanceof ThreadError)) throw error
      const caveat = `The path is not compared: ${error.message}.`
      return { node: leaf, drifts: 0, trainedTokens: 0, cachedTokens: 0, rows: 1, caveats: [...caveats, caveat] }
    }
  }
}

/** Returns the texts of tokens that only the prompts have. */
async function missingVocab(
  trajectory: Trajectory,
  prompts: readonly Int32Array[],
  encoder: PromptEncoder,
  signal: AbortSignal,
): Promise<Trajectory['vocab']> {
  const missing = new Set<number>()
  for (const prompt of prompts) for (const id of prompt) if (trajectory.vocab[id] === undefined) missing.add(id)
  return computeSettled(encoder, () => vocabularyWriter(trajectory, encoder.tokenizer)([...missing]).vocab, signal)
}
