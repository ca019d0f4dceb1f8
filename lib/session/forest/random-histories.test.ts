/**
 * Random histories of a scripted harness: it continues, retries, rolls back, edits, compacts, starts sub-agents, loses replies, and
 * changes how it writes its messages. The forest must equal a model that compares every message with every node.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Message } from '#lib/trajectory/format/trajectory.ts'
import { runs } from '#testing/property-runs.ts'
import type { AttachmentKind } from './attachment-kind.ts'
import { ALL_RULES, type EqualityRule } from './equality.ts'
import { beginningKey } from './find-session.ts'
import { messagesOfPath, openForest, type PromptContext, type SessionNode } from './forest.ts'
import { leavesOf, pathTokenCount, pickLeaves, SHARED_MASKS, sessionSamples } from './samples.ts'
import { attached, CONTEXT, outcome, type Reply } from './test-forests.ts'

/** A step of the script: what the harness does, drawn numbers for its choices, and how the call ends. */
const step = fc.record({
  does: fc.constantFrom(
    'continue' as const,
    'continue' as const,
    'continue' as const,
    'retry' as const,
    'roll back' as const,
    'edit' as const,
    'compact' as const,
    'sub-agent' as const,
    'other tools' as const,
    'go on with another agent' as const,
  ),
  where: fc.nat(),
  length: fc.integer({ min: 1, max: 3 }),
  ends: fc.constantFrom(
    'complete' as const,
    'complete' as const,
    'complete' as const,
    'aborted' as const,
    'failed' as const,
  ),
  n: fc.constantFrom(1, 1, 1, 2),
  changes: fc.subarray([
    'call-arguments',
    'empty-content',
    'dropped-reasoning',
    'call-ids',
    'text-parts',
    'cache-marks',
  ] as const),
})

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** A node as the model knows it: what was meant, before the client changed how it is written. */
interface ModelNode {
  readonly parent: number | undefined
  readonly prompt: readonly Message[]
  readonly path: readonly Message[] | undefined
  readonly context: PromptContext
  readonly aborted: boolean
}

/** One conversation of the harness: the history that it has read, and the last node of it. */
interface Agent {
  read: readonly Message[]
  context: PromptContext
}

const same = (one: Message, other: Message | undefined): boolean => JSON.stringify(one) === JSON.stringify(other)
const startsWith = (messages: readonly Message[], prefix: readonly Message[]): boolean =>
  prefix.length <= messages.length && prefix.every((message, index) => same(message, messages[index]))
const isSame = (one: PromptContext, other: PromptContext) =>
  one.tools === other.tools && one.template === other.template

/** Writes messages as a client does that makes some of the known changes. */
function written(messages: readonly Message[], changes: readonly EqualityRule[]): readonly Message[] {
  const does = (rule: EqualityRule) => changes.includes(rule)
  const ids = new Map<string, string>()
  const idOf = (id: string | undefined) => {
    if (id === undefined || !does('call-ids')) return id
    ids.set(id, ids.get(id) ?? `call_${ids.size}`)
    return ids.get(id)
  }
  return messages.map((message, index): Message => {
    const marked = does('cache-marks') && index === messages.length - 1 ? { cache_control: { type: 'ephemeral' } } : {}
    const content =
      does('text-parts') && typeof message.content === 'string' && message.content !== ''
        ? [{ type: 'text', text: message.content }]
        : message.content
    if (message.role === 'tool')
      return { ...message, ...marked, callId: idOf(message.callId) as string, content: content as string }
    if (message.role !== 'assistant') return { ...message, ...marked, content: content as string }
    const { reasoning, toolCalls, ...rest } = message
    return {
      ...rest,
      ...marked,
      content: (does('empty-content') && content === '' ? null : content) as string,
      ...(reasoning !== undefined && !does('dropped-reasoning') && { reasoning }),
      ...(toolCalls && {
        toolCalls: toolCalls.map((call) => ({
          ...call,
          id: idOf(call.id) as string,
          input: does('call-arguments') ? JSON.stringify(call.input, null, 1) : call.input,
        })),
      }),
    }
  })
}

/** Plays a script, and checks every attachment against the model. Returns the nodes. */
function play(steps: readonly Step[]): readonly SessionNode[] {
  // A client drops reasoning always or never: what it dropped from a history that it rewrote cannot come back.
  const drops = steps[0]?.changes.filter((rule) => rule === 'dropped-reasoning') ?? []
  const forest = openForest(ALL_RULES)
  const model: ModelNode[] = []
  /** The keys by which the session of a call is found. */
  const beginnings = new Set<string>()
  let texts = 0
  const next = (kind: string) => `${kind} ${texts++}`
  const user = (): Message => ({ role: 'user', content: next('user') })
  const start = (context: PromptContext): Agent => ({
    read: [{ role: 'system', content: next('system') }, user()],
    context,
  })
  const answers = (last: Message | undefined): readonly Message[] =>
    last?.role === 'assistant' && last.toolCalls
      ? last.toolCalls.map(({ id = '' }) => ({ role: 'tool', callId: id, content: next('result') }))
      : [user()]
  const agents: Agent[] = [start(CONTEXT)]
  let agent = agents[0] as Agent
  for (const { does, where, length, ends, n, changes } of steps) {
    // The nodes of the agent's present history, and of these the last one.
    const latest = latestOn(model, agent)
    const isAtReply = agent.read.at(-1)?.role === 'assistant'
    let messages: readonly Message[] = isAtReply ? [...agent.read, ...answers(agent.read.at(-1))] : agent.read
    let meant: Partial<AttachmentKind> | undefined
    if (isAtReply && latest !== undefined && model[latest]?.path?.length === agent.read.length)
      meant = { kind: 'continued' }
    const whole = latest === undefined ? undefined : model[latest]
    const isWhole = whole?.path !== undefined && !whole.aborted && whole.path.length === agent.read.length
    if (does === 'retry' && latest !== undefined && whole) {
      messages = whole.prompt
      meant = { kind: 'retried' }
    } else if (does === 'roll back' && isWhole) {
      const ancestors = model.filter(
        ({ path, context }) =>
          path && isSame(context, agent.context) && path.length < agent.read.length && startsWith(agent.read, path),
      )
      const to = ancestors[where % Math.max(1, ancestors.length)]?.path
      if (to) {
        messages = [...to, ...Array.from({ length }, user)]
        meant = { kind: 'rolled-back', to: to.length, dropped: agent.read.length - to.length, added: length }
      }
    } else if (does === 'edit' && isWhole) {
      const places = agent.read.flatMap(({ role }, index) => (role === 'user' || role === 'tool' ? [index] : []))
      const at = places[where % places.length] as number
      const edited = agent.read.with(at, { ...(agent.read[at] as Message), content: next('edited') } as Message)
      messages = [...edited, ...answers(edited.at(-1))]
      meant = { kind: 'rewritten', from: at + 1, replaced: 1, by: 1 }
    } else if (does === 'compact' && isWhole) {
      // Messages from a reply on become one summary; what follows another reply may be kept.
      const replies = agent.read.flatMap(({ role }, index) => (role === 'assistant' ? [index] : []))
      const from = replies[where % replies.length] as number
      const kept = replies.find((index) => index > from + 1)
      const summary: Message = { role: 'user', content: next('summary') }
      const tail = kept !== undefined && where % 2 === 0 ? agent.read.slice(kept) : []
      messages = [...agent.read.slice(0, from), summary, ...tail, ...(tail.length > 0 ? answers(tail.at(-1)) : [])]
      meant = { kind: 'rewritten', from: from + 1, replaced: agent.read.length - tail.length - from, by: 1 }
    } else if (does === 'sub-agent') {
      agent = start(agent.context)
      agents.push(agent)
      messages = agent.read
      const isFirst = model.every(({ path, aborted }) => !path || aborted)
      meant = { kind: 'new-root', ...(!isFirst && { because: 'system-prompt' }) }
    } else if (does === 'other tools' && isWhole) {
      agent = { read: agent.read, context: { ...agent.context, tools: next('tools') } }
      agents.push(agent)
      meant = { kind: 'new-root', because: 'tools', instead: latest as number }
    } else if (does === 'go on with another agent') {
      agent = agents[where % agents.length] as Agent
      messages = agent.read.at(-1)?.role === 'assistant' ? [...agent.read, ...answers(agent.read.at(-1))] : agent.read
      meant = undefined
    }

    const expected = modelPlace(model, messages, agent.context)
    const call = {
      messages: written(messages, [...changes.filter((rule) => rule !== 'dropped-reasoning'), ...drops]),
      context: agent.context,
    }
    const place = attached(forest, call)
    if (place.parent !== undefined || place.attached.kind === 'retried')
      expect(beginnings.has(beginningKey(call))).toBe(true)
    else beginnings.add(beginningKey(place))
    if (meant) expect(place.attached).toMatchObject(meant)
    expect(place.parent).toBe(expected.parent)
    expect(place.attached).toMatchObject(expected.attached)
    expect(place.kept).toBe(expected.parent === undefined ? 0 : model[expected.parent]?.path?.length)

    const nodes = forest.append(
      place,
      Array.from({ length: n }, (_, choice) => {
        const id = next('call')
        const calls: Reply = {
          role: 'assistant',
          content: '',
          toolCalls: [{ id, name: 'f', input: { a: texts, b: [] } }],
        }
        const says: Reply = { role: 'assistant', content: next('reply') }
        const answer = {
          ...((where + choice) % 2 === 0 ? calls : says),
          ...(length > 1 && { reasoning: next('thinks') }),
        }
        return outcome(place, ends === 'failed' ? undefined : answer, ends)
      }),
    )
    for (const node of nodes) {
      model.push({
        parent: place.parent,
        prompt: messages,
        path: node.reply && [...messages, node.reply],
        context: agent.context,
        aborted: node.status === 'aborted',
      })
    }
    // A harness that lost the connection has not read the reply.
    agent.read =
      ends === 'complete' ? (model[nodes[where % n]?.sequence as number]?.path as readonly Message[]) : messages
  }
  for (const [sequence, { path, prompt }] of model.entries())
    expect(meanings(messagesOfPath(forest.nodes, sequence))).toEqual(meanings(path ?? prompt))
  return forest.nodes
}

/** Returns what messages mean, however they are written. Ids of calls are numbers by their first occurrence. */
function meanings(messages: readonly Message[]): readonly unknown[] {
  const ids = new Map<string, number>()
  const numberOf = (id: string | undefined) => {
    ids.set(`${id}`, ids.get(`${id}`) ?? ids.size)
    return ids.get(`${id}`)
  }
  return messages.map((message) => {
    const text = typeof message.content === 'string' ? message.content : (message.content?.[0]?.text ?? '')
    if (message.role === 'tool') return [message.role, text, numberOf(message.callId)]
    if (message.role !== 'assistant') return [message.role, text]
    const calls = message.toolCalls?.map(({ id, input }) => [
      numberOf(id),
      typeof input === 'string' ? JSON.parse(input) : input,
    ])
    return [message.role, text, calls]
  })
}

/** Returns the node whose path is the history that the agent has read; without one, the last node whose prompt it has read. */
function latestOn(model: readonly ModelNode[], { read, context }: Agent): number | undefined {
  const own = model.map((node, sequence) => ({ ...node, sequence })).filter((node) => isSame(node.context, context))
  const whole = own.findLast(({ path }) => path?.length === read.length && startsWith(read, path))
  return (whole ?? own.findLast(({ prompt }) => startsWith(read, prompt)))?.sequence
}

/** Finds the place of a call by comparing all messages with all nodes. */
function modelPlace(
  model: readonly ModelNode[],
  messages: readonly Message[],
  context: PromptContext,
): { readonly parent: number | undefined; readonly attached: Partial<AttachmentKind> } {
  const own = model.map((node, sequence) => ({ ...node, sequence })).filter((node) => isSame(node.context, context))
  const lengthOf = (sequence: number | undefined) => (sequence === undefined ? 0 : (model[sequence]?.path?.length ?? 0))
  const deepest = own
    .filter(({ path }) => path && startsWith(messages, path))
    .reduce<number | undefined>(
      (best, { sequence }) => (lengthOf(sequence) >= lengthOf(best) ? sequence : best),
      undefined,
    )
  const kept = lengthOf(deepest)
  const retried = own.findLast(
    ({ prompt, parent }) =>
      prompt.length === messages.length && startsWith(messages, prompt) && lengthOf(parent) === kept,
  )
  if (retried) return { parent: retried.parent, attached: { kind: 'retried' } }
  const sharedWith = (path: readonly Message[] = []) => {
    const differs = path.findIndex((message, index) => !same(message, messages[index]))
    return differs < 0 ? path.length : differs
  }
  const nearest = own
    .filter(({ path }) => path)
    .reduce<(typeof own)[number] | undefined>(
      (best, node) => (sharedWith(node.path) >= sharedWith(best?.path) ? node : best),
      undefined,
    )
  const shared = sharedWith(nearest?.path)
  if (deepest === undefined && shared === 0) return { parent: undefined, attached: { kind: 'new-root' } }
  const rest = (nearest?.path ?? []).slice(shared, nearest?.aborted ? -1 : undefined)
  if (rest.length === 0)
    return { parent: deepest, attached: { kind: deepest === undefined ? 'new-root' : 'continued' } }
  // Which of the two changes it is follows from the script. A reply that was kept shows which history was changed.
  const beginning = messages.slice(0, shared)
  const kepts = messages.slice(shared).flatMap((message) => {
    const found = own.findLast(({ path = [] }) => startsWith(path, beginning) && same(message, path.at(-1)))
    return message.role === 'assistant' && found ? [found.sequence] : []
  })
  return { parent: deepest, attached: { abandoned: kepts.at(-1) ?? (nearest?.sequence as number) } }
}

const scripts = fc.array(step, { minLength: 1, maxLength: 14 })

test('Random histories of a harness give the forest that a model gives, with the kinds that the harness meant', () => {
  const kinds = new Map<string, number>()
  fc.assert(
    fc.property(scripts, (steps) => {
      for (const { attached } of play(steps)) kinds.set(attached.kind, (kinds.get(attached.kind) ?? 0) + 1)
    }),
    { numRuns: runs(2000) },
  )
  expect([...kinds.keys()].sort()).toEqual(['continued', 'new-root', 'retried', 'rewritten', 'rolled-back'])
  expect(Math.min(...kinds.values())).toBeGreaterThan(50)
})

test('Random histories are attached again as before after the forest was opened with its nodes', () => {
  fc.assert(
    fc.property(scripts, (steps) => {
      const nodes = play(steps)
      const again = openForest(ALL_RULES, nodes)
      for (const node of nodes) {
        const messages = messagesOfPath(nodes, node.sequence)
        const place = attached(again, {
          messages: [...messages, { role: 'user', content: 'new' }],
          context: node.context,
        })
        if (node.reply) expect(again.nodes[place.parent as number]?.messages).toEqual(node.messages)
      }
    }),
  )
})

test('Every reply token of a random forest is trained exactly once, or in every sample, as the mask says', () => {
  fc.assert(
    fc.property(scripts, fc.option(fc.nat(60), { nil: undefined }), (steps, limit) => {
      const nodes = play(steps)
      for (const mask of SHARED_MASKS) {
        const { samples, leftOut } = sessionSamples(nodes, {
          pickers: ['all'],
          mask,
          ...(limit !== undefined && { maxTokens: limit }),
        })
        const trainings = new Map<string, number>()
        const contained = new Map<string, number>()
        for (const { parts } of samples)
          for (const { node, kind, tokens, trained } of parts) {
            if (kind === 'prompt') expect(trained).toEqual({ start: 0, end: 0 })
            else
              for (let token = 0; token < tokens; token++) {
                const key = `${node} ${token}`
                contained.set(key, (contained.get(key) ?? 0) + 1)
                if (token >= trained.start && token < trained.end) trainings.set(key, (trainings.get(key) ?? 0) + 1)
              }
          }
        const expected = [...contained].map(([key, times]) => [key, mask === 'once' ? 1 : times])
        expect([...trainings].sort()).toEqual(expected.sort())
        const total = samples.flatMap(({ parts }) => parts).reduce((sum, { tokens }) => sum + tokens, 0)
        if (limit === undefined) {
          expect(leftOut).toEqual([])
          expect(contained.size).toBe(nodes.reduce((sum, { tokens }) => sum + tokens.reply, 0))
        } else expect(total).toBeLessThanOrEqual(limit)
        const all = leavesOf(nodes).reduce((sum, leaf) => sum + pathTokenCount(leaf), 0)
        expect(total + leftOut.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(all)
      }
    }),
  )
})

test('Pickers of a random forest leave out leaves, and every leaf is chosen or left out once', () => {
  fc.assert(
    fc.property(
      scripts,
      fc.subarray(['without-retries', 'without-rolled-back', 'without-aborted', 'longest'] as const),
      (steps, pickers) => {
        const nodes = play(steps)
        const { leaves, leftOut } = pickLeaves(nodes, pickers)
        const sequences = [...leaves.map(({ sequence }) => sequence), ...leftOut.map(({ leaf }) => leaf)]
        expect(sequences.sort((a, b) => a - b)).toEqual(leavesOf(nodes).map(({ sequence }) => sequence))
        if (pickers.includes('without-aborted')) expect(leaves.filter(({ status }) => status === 'aborted')).toEqual([])
        if (pickers.includes('longest')) expect(leaves.length).toBeLessThanOrEqual(1)
      },
    ),
  )
})
