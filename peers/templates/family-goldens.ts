/** Makes the golden files of the model families: the renders of transformers for every input of a family's run. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { conversationsOf, toolsFor } from '#lib/rollout/families/test-conversation.ts'
import { type Family, families } from '#lib/rollout/families/test-families.ts'
import { type FamilyGolden, type Front, keyOf } from '#lib/rollout/families/test-golden.ts'
import { runFamily } from '#lib/rollout/families/test-run.ts'
import { type ScriptedGenerateServer, startScriptedGenerateServer } from '#lib/rollout/families/test-server.ts'
import { templateTools } from '#lib/rollout/prompt/prompt.ts'
import { type ChatTemplate, chatTemplate, type RenderInput } from '#lib/templates/chat-template.ts'
import { CLOCK, type RenderOutcome, renderGolden } from '#lib/templates/golden/test-golden.ts'
import { commonText } from '#lib/util/common-prefix.ts'
import { type ScriptSession, startSession } from '../set-up/python.ts'

/** Returns the golden file of every family, by its name. */
export async function familyGoldens(python: string, chatTemplates: string): Promise<ReadonlyMap<string, FamilyGolden>> {
  const transformers = startSession(python, 'templates/render_templates.py')
  const server = await startScriptedGenerateServer()
  try {
    const madeWith = String(await transformers.reply())
    const goldens = new Map<string, FamilyGolden>()
    for (const family of families)
      goldens.set(
        family.name,
        await familyGolden(family, templateText(family, chatTemplates), transformers, server, madeWith),
      )
    return goldens
  } finally {
    transformers.end()
    await server.close()
  }
}

/** Returns the template of a family. */
export const templateText = ({ template }: Family, chatTemplates: string): string =>
  readFileSync(path.join(chatTemplates, template.package, template.file), 'utf8')

async function familyGolden(
  family: Family,
  text: string,
  transformers: ScriptSession,
  server: ScriptedGenerateServer,
  madeWith: string,
): Promise<FamilyGolden> {
  const render = async (input: RenderInput): Promise<RenderOutcome> =>
    (await transformers.ask({
      template: text,
      messages: JSON.stringify(input.messages),
      tools: input.tools ?? null,
      variables: JSON.stringify({ ...family.specialTokens, ...input.options }),
      addGenerationPrompt: input.addGenerationPrompt,
    })) as RenderOutcome
  const tools = templateTools(toolsFor(family, []).map(({ spec }) => spec))
  const whole = async (messages: RenderInput['messages'], addGenerationPrompt: boolean) =>
    textOf(await render({ messages, tools, addGenerationPrompt, options: family.options ?? {} }), family)
  const conversations = conversationsOf(family)
  const prompts = family.breaks ? [] : await inTurn(conversations.slice(0, 3), (messages) => whole(messages, true))
  const replies = family.breaks?.replies ?? (await repliesOf(family, prompts, whole))
  const renders: Record<string, FamilyGolden['renders'][string]> = {}
  let last = ''
  for (const [key, input] of await inputsOf(family, text, replies, server)) {
    const outcome = await render(input)
    const ours = renderGolden({
      template: text,
      specialTokens: family.specialTokens,
      input: { ...input, clock: () => CLOCK },
    })
    if (JSON.stringify(outcome) !== JSON.stringify(ours))
      throw new Error(
        `${family.name}: transformers renders ${JSON.stringify(outcome)}, and Rollscope ${JSON.stringify(ours)}`,
      )
    renders[key] = typeof outcome === 'string' ? front(last, outcome) : outcome
    if (typeof outcome === 'string') last = outcome
  }
  return {
    'made with': madeWith,
    template: createHash('sha256').update(text).digest('hex'),
    replies,
    prompts: prompts.map((prompt, index) => front(prompts[index - 1] ?? '', prompt)),
    renders,
  }
}

/** Returns the replies of the model: the part of the next render up to and including its stop token. */
async function repliesOf(
  family: Family,
  prompts: readonly string[],
  whole: (messages: RenderInput['messages'], addGenerationPrompt: boolean) => Promise<string>,
): Promise<readonly string[]> {
  const end = await whole(conversationsOf(family).at(-1) ?? [], false)
  return prompts.map((prompt, index) => {
    const isLast = index === prompts.length - 1
    if (isLast && family.answer !== undefined) return family.answer
    const next = prompts[index + 1] ?? end
    if (!next.startsWith(prompt)) throw new Error(`${family.name} is not prefix-preserving after request ${index}`)
    const added = next.slice(prompt.length)
    const ends = family.stops.flatMap((stop) => (added.includes(stop) ? [added.indexOf(stop) + stop.length] : []))
    if (ends.length === 0) throw new Error(`${family.name}: no stop token in ${added}`)
    return added.slice(0, Math.min(...ends))
  })
}

/** Returns every input of a run once, in order, by its key. */
async function inputsOf(
  family: Family,
  text: string,
  replies: readonly string[],
  server: ScriptedGenerateServer,
): Promise<ReadonlyMap<string, RenderInput>> {
  const real = chatTemplate(text, family.specialTokens)
  const inputs = new Map<string, RenderInput>()
  const recording: ChatTemplate = {
    text: '',
    render(input) {
      // The input is copied, because later turns extend its lists.
      inputs.set(keyOf(input), structuredClone(input))
      return real.render({ ...input, clock: () => CLOCK })
    },
  }
  const { trajectory } = await runFamily(family, recording, replies, server, false)
  // The check of a continuation renders the whole conversation when it is read.
  JSON.stringify(trajectory)
  return inputs
}

const front = (last: string, text: string): Front => {
  const shared = commonText(last, text)
  return [shared, text.slice(shared)]
}

function textOf(outcome: RenderOutcome, { name }: Family): string {
  if (typeof outcome !== 'string') throw new Error(`${name}: ${outcome.class}: ${outcome.message}`)
  return outcome
}

async function inTurn<In, Out>(items: readonly In[], make: (item: In) => Promise<Out>): Promise<Out[]> {
  const goldens: Out[] = []
  for (const item of items) goldens.push(await make(item))
  return goldens
}
