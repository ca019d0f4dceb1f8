/**
 * Runs two turns of calls with every chat template of the packages, and compares the requests with transformers' renders. The
 * model's replies are the template's own renders of them.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { suggestParser } from '#lib/parsers/suggest.ts'
import { conversationsOf, stepsOf, toolsFor } from '#lib/rollout/families/test-conversation.ts'
import { type Family, families, tokenizerOf } from '#lib/rollout/families/test-families.ts'
import { type FamilyRun, runFamily } from '#lib/rollout/families/test-run.ts'
import { type ScriptedGenerateServer, startScriptedGenerateServer } from '#lib/rollout/families/test-server.ts'
import { templateTools } from '#lib/rollout/prompt/prompt.ts'
import { type ChatTemplate, chatTemplate } from '#lib/templates/chat-template.ts'
import { CLOCK, type RenderOutcome } from '#lib/templates/golden/test-golden.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { toolCallsOf } from '#lib/trajectory/tokens/tokens.ts'
import { commonText } from '#lib/util/common-prefix.ts'
import { type ScriptSession, startSession } from '../set-up/python.ts'
import { TEMPLATE_MARK } from './template-mark.ts'

/** The result of one template. */
export interface Swept {
  /** Package and file name. */
  readonly name: string
  readonly kind: Kind
  readonly parser?: string
  /** The reason why the kind is not `equal`; '' if the kind needs none. */
  readonly why: string
}

/**
 * Kinds of results, as docs/chat-templates.md explains them. The last three must never occur: a run fails although
 * transformers renders, a result is not read, or differing ids are not reported.
 */
export type Kind =
  | 'equal'
  | 'rewritten'
  | 'broken'
  | 'refused'
  | 'misread'
  | 'no calls'
  | 'no parser'
  | 'no tools'
  | 'failed'
  | 'lost'
  | 'unnoticed'

type Json = { readonly role: string }
type Render = (messages: readonly Json[], addGenerationPrompt: boolean, options: object) => Promise<RenderOutcome>

/** Runs every template, in the order of packages and files. */
export async function sweepTemplates(python: string, chatTemplates: string): Promise<readonly Swept[]> {
  const transformers = startSession(python, 'templates/render_templates.py')
  const server = await startScriptedGenerateServer()
  try {
    await transformers.reply()
    const swept: Swept[] = []
    for (const folder of ['llama-cpp-python', 'trl'])
      for (const file of readdirSync(path.join(chatTemplates, folder)).toSorted())
        swept.push(await sweepTemplate(folder, file, chatTemplates, transformers, server))
    return swept
  } finally {
    transformers.end()
    await server.close()
  }
}

async function sweepTemplate(
  folder: string,
  file: string,
  chatTemplates: string,
  transformers: ScriptSession,
  server: ScriptedGenerateServer,
): Promise<Swept> {
  const name = `${folder}/${file.replace(/\.jinja$/, '')}`
  const text = readFileSync(path.join(chatTemplates, folder, file), 'utf8')
  const tools = templateTools(toolsFor(base, []).map(({ spec }) => spec))
  const render: Render = async (messages, addGenerationPrompt, options) =>
    (await transformers.ask({
      template: text,
      messages: JSON.stringify(messages),
      tools,
      variables: JSON.stringify({ ...SPECIAL_TOKENS, ...options }),
      addGenerationPrompt,
    })) as RenderOutcome
  if (!/\btool/.test(text)) return { name, kind: 'no tools', why: '' }
  const form = await formOf(text, render)
  if ('why' in form) return { name, ...form }
  const { parser, by, because } = suggestParser({ chatTemplate: text })
  if (by === 'default') return { name, kind: 'no parser', why: because }
  const known = families.find((family) => family.parser === parser)
  const family: Family = { ...base, ...form, name, parser, ...(known?.callIds && { callIds: known.callIds }) }
  let best: Swept | undefined
  for (const thinks of [true, false])
    for (const options of OPTIONS) {
      const found = { name, parser, ...(await tried({ ...family, thinks, options }, text, render, server)) }
      if (found.kind === 'equal') return found
      if (!best || RANKS.indexOf(found.kind) < RANKS.indexOf(best.kind)) best = found
    }
  return best as Swept
}

/** Kinds from good to bad: of several forms of a conversation, the best result counts. */
const RANKS: readonly Kind[] = ['rewritten', 'broken', 'refused', 'misread', 'failed', 'lost', 'unnoticed']

/** Options with which templates turn thinking on and off. */
const OPTIONS = [{}, { enable_thinking: true }, { thinking: true }, { enable_thinking: false }]
const SPECIAL_TOKENS = { bos_token: '<s>', eos_token: '</s>' }
const base: Family = {
  name: '',
  parser: '',
  template: { package: 'trl', file: '' },
  specialTokens: SPECIAL_TOKENS,
  special: {},
  stops: [],
  thinks: true,
  parallel: true,
}

type Form = Required<Pick<Family, 'parallel' | 'omitsContent' | 'argumentsAsText'>>

/** Returns the form of messages whose calls and results a template prints, or the reason why it prints none. */
async function formOf(template: string, render: Render): Promise<Form | Pick<Swept, 'kind' | 'why'>> {
  const errors: string[] = []
  let printsResults = false
  for (const argumentsAsText of [false, true])
    for (const omitsContent of [false, true])
      for (const parallel of [true, false]) {
        const form = { parallel, omitsContent, argumentsAsText }
        const family = { ...base, ...form }
        const text = await render(conversationsOf(family)[2] ?? [], true, {})
        if (typeof text !== 'string') {
          errors.push(`transformers: ${text.class}: ${text.message}`)
          continue
        }
        const results = stepsOf(family).flatMap(({ calls }) => calls.map(({ result }) => result))
        const values = stepsOf(family).flatMap(({ calls }) => calls.map(({ input }) => String(Object.values(input)[0])))
        // Quotes may be escaped.
        if ([...results, ...values.flatMap((value) => value.split('"'))].every((part) => text.includes(part)))
          return form
        printsResults ||= results.every((result) => text.includes(result))
      }
  const [error = ''] = errors
  if (!printsResults) return { kind: 'refused', why: error }
  const why =
    error === '' || !template.includes('tool_calls')
      ? 'only the content of a reply is rendered'
      : `calls are omitted beside content; without content, ${error}`
  return { kind: 'no calls', why }
}

async function tried(
  family: Family,
  text: string,
  render: Render,
  server: ScriptedGenerateServer,
): Promise<Pick<Swept, 'kind' | 'why'>> {
  const options = family.options ?? {}
  const conversations = conversationsOf(family)
  const prompts: string[] = []
  const bare: string[] = []
  for (const messages of conversations) {
    const [prompt, whole] = [await render(messages, true, options), await render(messages, false, options)]
    if (typeof prompt !== 'string') return { kind: 'refused', why: `transformers: ${prompt.message}` }
    if (typeof whole !== 'string') return { kind: 'refused', why: `transformers: ${whole.message}` }
    prompts.push(prompt)
    bare.push(whole)
  }
  const steps = stepsOf(family)
  const close = await endOfTurn(render, options)
  const stops = [...(close === undefined ? [] : [close]), ...STOPS]
  const cut = steps.map(({ reasoning, calls, content }, index) => {
    const prompt = prompts[index] as string
    const next = (index === steps.length - 1 ? bare : prompts)[index + 1] as string
    const header = prompt.slice(commonText(prompt, bare[index] as string))
    const last = calls.at(-1)
    const written = last ? String(Object.values(last.input)[0]) : content
    const body = next.slice(replyStart(prompt, next, header, written))
    const isOpen = !next.startsWith(prompt) && /<think>\s*$/.test(prompt)
    return cutAtStop(`${isOpen ? `${reasoning}\n</think>\n\n` : ''}${body}`, written, calls[0]?.result, stops)
  })
  const replies = stoppable(cut)
  const marks = new Set([
    ...stops,
    '<s>',
    '</s>',
    ...[...prompts, ...replies].flatMap((one) => one.match(TEMPLATE_MARK) ?? []),
  ])
  const special = Object.fromEntries([...marks].map((mark, index) => [mark, index]))
  const whole = { ...family, special, stops: [...new Set(replies.flatMap((reply) => reply.match(LAST_MARK) ?? []))] }
  const compiled = chatTemplate(text, SPECIAL_TOKENS)
  const template: ChatTemplate = {
    text,
    render: (input) => compiled.render({ ...input, clock: () => CLOCK }),
  }
  const run = await runFamily(whole, template, replies, server, false)
  return compareWithPeer(run, whole, prompts.slice(0, steps.length), replies)
}

/**
 * Returns the start of the reply in the next render: after the prompt, or at the first difference if the template writes the
 * prompt differently.
 */
function replyStart(prompt: string, next: string, header: string, written: string): number {
  if (next.startsWith(prompt)) return prompt.length
  const at = commonText(prompt, next)
  const again = header === '' ? -1 : next.lastIndexOf(header, next.lastIndexOf(written))
  // A header in the common part began an earlier reply: the template continues in the turn of that reply.
  if (again >= 0 && again + header.length >= at) return again + header.length
  const inside = Array.from(next.matchAll(TEMPLATE_MARK)).find(
    ({ 0: mark, index }) => index < at && at < index + mark.length,
  )
  return inside?.index ?? at
}

/**
 * Returns the text up to the token at which the model stops: the first stop after its last value and before the result,
 * otherwise up to the next mark.
 */
function cutAtStop(text: string, written: string, result: string | undefined, stops: readonly string[]): string {
  // Quotes may be escaped.
  const last = [written, JSON.stringify(written).slice(1, -1)].find((one) => text.includes(one)) ?? ''
  const from = text.indexOf(last) + last.length
  const to = result === undefined ? text.length : text.indexOf(result, from)
  const ends = stops.flatMap((stop) => {
    const at = text.slice(0, to < 0 ? text.length : to).indexOf(stop, from)
    return at < 0 ? [] : [at + stop.length]
  })
  if (ends.length > 0) return text.slice(0, Math.min(...ends))
  const mark = text.slice(from, to < 0 ? text.length : to).match(TEMPLATE_MARK)?.[0]
  return `${text.slice(0, mark === undefined ? from : text.indexOf(mark, from))}</s>`
}

/**
 * Replaces the last mark of replies if it also occurs inside of a reply. Such a mark cannot end a reply: the model stops at a
 * token of its own, which the template does not write.
 */
function stoppable(replies: readonly string[]): readonly string[] {
  const ends = new Set(replies.flatMap((reply) => reply.match(LAST_MARK) ?? []))
  const inner = [...ends].filter((mark) => replies.some((reply) => reply.slice(0, -mark.length).includes(mark)))
  return replies.map((reply) => {
    const mark = inner.find((one) => reply.endsWith(one))
    return mark === undefined ? reply : `${reply.slice(0, -mark.length)}</s>`
  })
}

/** Returns the mark with which the template ends a turn without calls, or undefined if it is one of STOPS. */
async function endOfTurn(render: Render, options: object): Promise<string | undefined> {
  const text = await render(
    [
      { role: 'user', content: 'Q' },
      { role: 'assistant', content: 'ANSWER' },
    ] as never,
    false,
    options,
  )
  const end = typeof text === 'string' ? (text.split('ANSWER').at(-1) ?? '') : ''
  return STOPS.some((stop) => end.includes(stop)) ? undefined : end.match(FIRST_MARK)?.[0].trim()
}

/** Marks that end replies with calls, or that templates write without ending a turn by them. */
const STOPS = [
  '</s>',
  '<|im_end|>',
  '<|eot_id|>',
  '<|eom_id|>',
  '<|call|>',
  '<|return|>',
  '<turn|>',
  '<|tool_response>',
  '<|observation|>',
  '<|user|>',
  '<｜end▁of▁sentence｜>',
  '<|end_of_text|>',
  '<|end_of_msg|>',
  '[e~[',
  '<|END_OF_TURN_TOKEN|>',
  '<|tools_suffix|>',
  '<｜hy_eos:opensource｜>',
  '<|end|>',
  '<|calls|>',
]
const FIRST_MARK = new RegExp(`^\\s*(?:${TEMPLATE_MARK.source})`)
const LAST_MARK = new RegExp(`(?:${TEMPLATE_MARK.source})$`)

function compareWithPeer(
  { trajectory, requests }: FamilyRun,
  family: Family,
  prompts: readonly string[],
  replies: readonly string[],
): Pick<Swept, 'kind' | 'why'> {
  const { outcome } = trajectory
  const steps = stepsOf(family)
  const texts = requests.map((ids) => textOf(ids, trajectory.vocab))
  const calls = toolCallsOf(trajectory)
  if (outcome.kind === 'failed') return { kind: 'failed', why: outcome.message }
  const malformed = calls.find((call) => call.kind === 'malformed')
  if (malformed) return { kind: 'misread', why: malformed.kind === 'malformed' ? malformed.why : '' }
  if (requests.length < steps.length) return { kind: 'misread', why: `it finds ${calls.length} calls` }
  const check = trajectory.segments.flatMap((segment) =>
    segment.kind === 'prompt' &&
    segment.derivation?.kind === 'continuation' &&
    segment.derivation.check.kind === 'broken'
      ? [segment.derivation.check.why]
      : [],
  )[0]
  const isLost = steps.some((step, index) => step.calls.some(({ result }) => !texts[index + 1]?.includes(result)))
  if (isLost) return { kind: 'lost', why: check ?? '' }
  const tokenizer = tokenizerOf(family)
  const isEqual = JSON.stringify(prompts.map(tokenizer.encode)) === JSON.stringify(requests)
  if (isEqual) return { kind: 'equal', why: '' }
  const turn = prompts.findIndex((prompt, index) => prompts[index + 1]?.startsWith(prompt + replies[index]) === false)
  if (check !== undefined) return { kind: 'broken', why: check }
  const at = texts.findIndex((one, index) => one !== prompts[index])
  const where = commonText(texts[at] ?? '', prompts[at] ?? '')
  const difference = [prompts, texts].map((all) => JSON.stringify(all[at]?.slice(Math.max(0, where - 12), where + 25)))
  return { kind: turn < 0 ? 'unnoticed' : 'rewritten', why: `transformers ${difference[0]}, the run ${difference[1]}` }
}
