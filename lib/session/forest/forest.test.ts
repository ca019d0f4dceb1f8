import { describe, expect, test } from 'vitest'
import type { Message } from '#lib/trajectory/format/trajectory.ts'
import { ALL_RULES } from './equality.ts'
import {
  type Attachment,
  MOST_NODES,
  messagesOfPath,
  type NodeOutcome,
  openForest,
  pathOf,
  promptContext,
} from './forest.ts'
import { attached, CONTEXT, history, outcome, reply, writtenForest } from './test-forests.ts'

const OTHER_TOOLS = { ...CONTEXT, tools: 'others' }
const OTHER_TEMPLATE = { ...CONTEXT, template: 'another' }

/** A forest with the path s:x u:a a:1 t:r a:2 t:q a:3. */
function threeCalls() {
  const written = writtenForest()
  written.add('s:x u:a', '1')
  written.add('s:x u:a a:1 t:r', '2')
  written.add('s:x u:a a:1 t:r a:2 t:q', '3')
  return written
}

describe('A call attaches', () => {
  test('as a new root if it is the first one', () => {
    const { place } = writtenForest()
    expect(place('s:x u:a')).toEqual({
      attached: { kind: 'new-root', because: 'first-call' },
      context: CONTEXT,
      kept: 0,
      messages: history('s:x u:a'),
      accepted: [],
    })
  })

  test('as continued if it only adds messages to a path', () => {
    const { place } = threeCalls()
    expect(place('s:x u:a a:1 t:r a:2 t:q a:3 t:p u:b')).toMatchObject({
      attached: { kind: 'continued' },
      parent: 2,
      kept: 7,
      messages: history('t:p u:b'),
    })
  })

  test('as a sample of the prompt that a call has which ended meanwhile', () => {
    const { forest, place, add } = writtenForest()
    add('s:x u:a', '1')
    const [one, two, other] = ['u:b', 'u:b', 'u:c'].map((word) => place(`s:x u:a a:1 ${word}`))
    const append = (attachment: Attachment | undefined, status: NodeOutcome['status'] = 'complete') => {
      if (!attachment) throw new Error('there is no place')
      const answer = status === 'failed' ? undefined : reply(`${forest.nodes.length}`)
      return forest.append(attachment, [outcome(attachment, answer, status)])[0]?.attached
    }
    expect(append(one, 'failed')).toEqual({ kind: 'continued' })
    expect(append(two)).toEqual({ kind: 'retried', of: 1, isConcurrent: true })
    expect(append(one)).toEqual({ kind: 'retried', of: 2, isConcurrent: true })
    expect(append(other)).toEqual({ kind: 'continued' })
    // A later call is a retry, and the forest that is opened again has the same kinds.
    expect(place('s:x u:a a:1 u:b').attached).toEqual({ kind: 'retried', of: 3 })
    expect(openForest(forest.rules, forest.nodes).nodes).toEqual(forest.nodes)
  })

  test('as it was if the call that ended meanwhile has an equal prompt with other texts, or other tools', () => {
    const { forest } = writtenForest()
    const call = (content: string | null, tools = 'tools') => {
      const messages: readonly Message[] = [
        { role: 'user', content: 'a' },
        { role: 'assistant', content, toolCalls: [{ id: 'c', name: 'f', input: {} }] } as Message,
        { role: 'tool', callId: 'c', content: 'r' },
      ]
      return attached(forest, { messages, context: { tools, template: 'template' } })
    }
    const kinds = [call(''), call(null), call('', 'others')].map(
      (attachment) => forest.append(attachment, [outcome(attachment, reply('1'))])[0]?.attached.kind,
    )
    expect(kinds).toEqual(['new-root', 'new-root', 'new-root'])
  })

  test('as retried if it sends a prompt again, and continues the same node', () => {
    const { add, place } = threeCalls()
    expect(place('s:x u:a')).toMatchObject({
      attached: { kind: 'retried', of: 0 },
      kept: 0,
      messages: history('s:x u:a'),
    })
    expect(place('s:x u:a a:1 t:r')).toMatchObject({ attached: { kind: 'retried', of: 1 }, parent: 0, kept: 3 })
    add('s:x u:a a:1 t:r a:2 t:q', '', { status: 'failed' })
    expect(place('s:x u:a a:1 t:r a:2 t:q')).toMatchObject({ attached: { kind: 'retried', of: 3 }, parent: 1 })
  })

  test('as rolled back if it goes back to a reply and adds other messages', () => {
    const { place } = threeCalls()
    expect(place('s:x u:a a:1 u:b')).toMatchObject({
      attached: { kind: 'rolled-back', to: 3, dropped: 4, added: 1, abandoned: 2 },
      parent: 0,
      kept: 3,
    })
  })

  test('as rolled back if it ends inside of a prompt', () => {
    const written = writtenForest()
    written.add('s:x u:a u:b', '1')
    expect(written.place('s:x u:a')).toMatchObject({
      attached: { kind: 'rolled-back', to: 2, dropped: 2, added: 0, abandoned: 0 },
      kept: 0,
    })
  })

  test('as rolled back if only the system prompt remains', () => {
    const { place } = threeCalls()
    expect(place('s:x').attached).toEqual({ kind: 'rolled-back', to: 1, dropped: 6, added: 0, abandoned: 2 })
  })

  test('as rewritten if an earlier message was edited and the rest was kept', () => {
    const { place } = threeCalls()
    expect(place('s:x u:a a:1 t:R a:2 t:q a:3 t:p')).toMatchObject({
      attached: { kind: 'rewritten', from: 4, replaced: 1, by: 1, abandoned: 2 },
      parent: 0,
      messages: history('t:R a:2 t:q a:3 t:p'),
    })
    expect(place('s:x u:b a:1 t:r a:2 t:q a:3 t:p')).toMatchObject({
      attached: { kind: 'rewritten', from: 2, replaced: 1, by: 1, abandoned: 2 },
      kept: 0,
    })
  })

  test('as rewritten if messages were inserted, removed or summarised', () => {
    const { place } = threeCalls()
    const rewritten = (from: number, replaced: number, by: number) => ({
      attached: { kind: 'rewritten', from, replaced, by, abandoned: 2 },
    })
    expect(place('s:x u:a u:more a:1 t:r a:2 t:q a:3')).toMatchObject(rewritten(3, 0, 1))
    expect(place('s:x u:a a:1 a:2 t:q a:3 t:p')).toMatchObject(rewritten(4, 1, 0))
    expect(place('s:x u:a a:1 t:r u:summary')).toMatchObject(rewritten(5, 3, 1))
    expect(place('s:x u:a u:summary u:on')).toMatchObject(rewritten(3, 5, 2))
    expect(place('s:x u:a u:summary t:q a:3 t:p')).toMatchObject(rewritten(3, 3, 1))
    expect(place('s:x u:a a:one t:r a:2 t:q')).toMatchObject({
      attached: { kind: 'rewritten', from: 3, replaced: 1, by: 1, abandoned: 1 },
    })
  })

  test('as rewritten if only the reasoning of a reply was edited', () => {
    const forest = openForest(ALL_RULES)
    const messages = history('s:x u:a')
    const first = attached(forest, { messages, context: CONTEXT })
    forest.append(first, [outcome(first, { ...reply('1'), reasoning: 'r' })])
    const edited = { ...reply('1'), reasoning: 'other' }
    expect(attached(forest, { messages: [...messages, edited, ...history('u:b')], context: CONTEXT })).toMatchObject({
      attached: { kind: 'rewritten', from: 3, replaced: 1, by: 2, abandoned: 0 },
      kept: 0,
    })
  })

  test('as a new root with the reason if its beginning, its tools or its template are different', () => {
    const { place } = threeCalls()
    const because = (words: string, context = CONTEXT) => place(words, context).attached
    expect(because('s:y u:a')).toEqual({ kind: 'new-root', because: 'system-prompt' })
    expect(because('u:a')).toEqual({ kind: 'new-root', because: 'system-prompt' })
    expect(because('s:x u:a', OTHER_TOOLS)).toEqual({ kind: 'new-root', because: 'tools' })
    expect(because('s:x u:a a:1 t:r', OTHER_TOOLS)).toEqual({ kind: 'new-root', because: 'tools', instead: 0 })
    expect(because('s:x u:a a:1 t:r a:2 u:b', OTHER_TEMPLATE)).toEqual({
      kind: 'new-root',
      because: 'template',
      instead: 1,
    })
    const plain = writtenForest()
    plain.add('u:a', '1')
    expect(plain.place('u:b').attached).toEqual({ kind: 'new-root', because: 'first-message' })
  })

  test('only to nodes with the same tools, also after others', () => {
    const { add, place } = threeCalls()
    add('s:x u:a a:1 t:r a:2 t:q a:3 u:b', '4', { context: OTHER_TOOLS })
    expect(place('s:x u:a a:1 t:r a:2 t:q a:3 u:b a:4 u:c', OTHER_TOOLS)).toMatchObject({ parent: 3, kept: 9 })
    expect(place('s:x u:a a:1 t:r a:2 t:q a:3 u:b a:4 u:c')).toMatchObject({
      attached: { kind: 'continued' },
      parent: 2,
      kept: 7,
    })
  })

  test('to the latest of several nodes with the same path', () => {
    const { add, place } = writtenForest()
    add('s:x u:a', '1', { choices: ['1', '2'] })
    expect(place('s:x u:a a:1 u:b')).toMatchObject({ attached: { kind: 'continued' }, parent: 1 })
    expect(place('s:x u:a a:2 u:b')).toMatchObject({ attached: { kind: 'continued' }, parent: 2 })
    expect(place('s:x u:a')).toMatchObject({ attached: { kind: 'retried', of: 0 } })
    add('s:x u:a a:1 u:b', '3')
    add('s:x u:a', '1')
    expect(place('s:x u:a a:1 u:c')).toMatchObject({ attached: { kind: 'continued' }, parent: 4 })
  })

  test('to the deepest node although its path was the first prompt of another call', () => {
    const { add, place } = writtenForest()
    add('s:x u:a a:1 u:b', '2')
    add('s:x u:a', '1')
    expect(place('s:x u:a a:1 u:b')).toMatchObject({ parent: 1, kept: 3 })
  })
})

describe('A reply that the client may not have read', () => {
  test('is continued if the client sends back what it received', () => {
    const { add, place } = threeCalls()
    add('s:x u:a a:1 t:r a:2 t:q a:3 u:b', 'par', { status: 'aborted' })
    expect(place('s:x u:a a:1 t:r a:2 t:q a:3 u:b a:par u:c')).toMatchObject({
      attached: { kind: 'continued' },
      parent: 3,
    })
  })

  test('is no message that the client removed', () => {
    const { add, place } = threeCalls()
    add('s:x u:a a:1 t:r a:2 t:q a:3 u:b', 'par', { status: 'aborted' })
    expect(place('s:x u:a a:1 t:r a:2 t:q a:3 u:b u:c')).toMatchObject({
      attached: { kind: 'continued' },
      parent: 2,
      kept: 7,
    })
  })

  test('makes no tree', () => {
    const aborted = writtenForest()
    aborted.add('s:x u:a', 'par', { status: 'aborted' })
    expect(aborted.place('s:x u:a u:b').attached).toEqual({ kind: 'new-root', because: 'first-call' })
    const failed = writtenForest()
    failed.add('s:x u:a', '', { status: 'failed' })
    expect(failed.place('s:x u:a u:b').attached).toEqual({ kind: 'new-root', because: 'first-call' })
  })
})

describe('A client that changes its messages', () => {
  const calling = (id: string, input: unknown = {}): ReturnType<typeof reply> => ({
    role: 'assistant',
    content: '',
    reasoning: 'r',
    toolCalls: [{ id, name: 'f', input }],
  })
  const result = (callId: string, content: string): Message => ({ role: 'tool', callId, content })

  test('continues the recorded messages, and its results name the recorded calls', () => {
    const forest = openForest(ALL_RULES)
    const first = attached(forest, { messages: history('u:a'), context: CONTEXT })
    forest.append(first, [outcome(first, calling('call_x'))])
    const { reasoning: _, ...dropped } = calling('0', '{}')
    const sent = [...history('u:a'), dropped, result('0', 'r')]
    const second = attached(forest, { messages: sent, context: CONTEXT })
    expect(second).toMatchObject({
      attached: { kind: 'continued' },
      kept: 2,
      messages: [result('call_x', 'r')],
      accepted: [
        { rule: 'call-arguments', message: 2 },
        { rule: 'dropped-reasoning', message: 2 },
        { rule: 'call-ids', message: 2 },
      ],
    })
    forest.append(second, [outcome(second, calling('call_y'))])
    const third = attached(forest, {
      messages: [...sent, { ...calling('1'), reasoning: 'r' }, result('1', 'q')],
      context: CONTEXT,
    })
    expect(third).toMatchObject({ kept: 4, messages: [result('call_y', 'q')] })
    expect(messagesOfPath(forest.nodes, 1)).toEqual([
      ...history('u:a'),
      calling('call_x'),
      result('call_x', 'r'),
      calling('call_y'),
    ])
  })

  test('gets a different id for a new call whose id a recorded call has', () => {
    const forest = openForest(ALL_RULES)
    const first = attached(forest, { messages: history('u:a'), context: CONTEXT })
    forest.append(first, [outcome(first, calling('x'))])
    const sent = [...history('u:a'), calling('0'), result('0', 'r'), calling('x'), calling('x_2'), result('x', 'q')]
    expect(attached(forest, { messages: sent, context: CONTEXT }).messages).toEqual([
      result('x', 'r'),
      calling('x_2'),
      calling('x_2_2'),
      result('x_2', 'q'),
    ])
  })

  test('repeats the recorded messages if it retries', () => {
    const forest = openForest(ALL_RULES)
    const first = attached(forest, { messages: history('u:a'), context: CONTEXT })
    forest.append(first, [outcome(first, reply('1'))])
    const messages: readonly Message[] = [{ role: 'user', content: [{ type: 'text', text: 'a' }] }]
    expect(attached(forest, { messages, context: CONTEXT })).toMatchObject({
      attached: { kind: 'retried', of: 0 },
      messages: history('u:a'),
      accepted: [{ rule: 'text-parts', message: 1 }],
    })
  })

  test('continues the reply whose reasoning it sends, and the latest one if it sends none', () => {
    const forest = openForest(ALL_RULES)
    const first = attached(forest, { messages: history('u:a'), context: CONTEXT })
    const answers = ['r', 'q', 'p'].map((reasoning) => outcome(first, { ...reply('1'), reasoning }))
    forest.append(first, answers)
    const parent = (answer: Message) =>
      attached(forest, { messages: [...history('u:a'), answer, ...history('u:b')], context: CONTEXT }).parent
    expect(parent({ ...reply('1'), reasoning: 'q' })).toBe(1)
    expect(parent(reply('1'))).toBe(2)
    expect(parent({ ...reply('1'), reasoning: 'z' })).toBeUndefined()
  })

  test('rewrites its history if the rule for its change is off', () => {
    const { add, forest, place } = writtenForest(new Set())
    add('s:x u:a', '1')
    expect(place('s:x u:a a:1 u:b').parent).toBe(0)
    const messages: readonly Message[] = [
      ...history('s:x u:a'),
      { role: 'assistant', content: [{ type: 'text', text: '1' }] },
    ]
    expect(attached(forest, { messages, context: CONTEXT }).attached.kind).toBe('rewritten')
  })
})

describe('A forest', () => {
  test('that is opened with recorded nodes attaches the next call to the same place', () => {
    const { forest } = threeCalls()
    const again = openForest(ALL_RULES, JSON.parse(JSON.stringify(forest.nodes)))
    const call = { messages: history('s:x u:a a:1 t:R a:2 t:q a:3 u:b'), context: CONTEXT }
    expect(attached(again, call)).toEqual(attached(forest, call))
    expect(pathOf(again.nodes, 2).map(({ sequence }) => sequence)).toEqual([0, 1, 2])
  })

  test('accepts 1,024 nodes, counts the replies that are requested, and refuses more with a hint', () => {
    const { add, forest } = writtenForest()
    for (let index = 0; index < MOST_NODES - 1; index++) add(`u:${index}`, 'a')
    const call = { messages: history('u:new'), context: CONTEXT }
    expect(forest.attach({ ...call, n: 2 })).toMatchObject({
      ok: false,
      why: 'The session has 1,023 nodes of at most 1,024, and the call requests 2 replies. More almost always means that the harness is not replaying history verbatim.',
    })
    expect(forest.attach(call).ok).toBe(true)
    add('u:last', 'a')
    expect(forest.attach(call)).toEqual({
      ok: false,
      why: 'The session has 1,024 nodes of at most 1,024. More almost always means that the harness is not replaying history verbatim.',
      hint: 'Look at the kinds of the calls on the page of the session, or begin a new session.',
    })
  })

  test('numbers calls and their replies', () => {
    const { add, forest } = writtenForest()
    add('u:a', '1', { choices: ['2'] })
    add('u:b', '3')
    expect(forest.nodes.map(({ call, choice, sequence }) => [call, choice, sequence])).toEqual([
      [0, 0, 0],
      [0, 1, 1],
      [1, 0, 2],
    ])
  })

  test('reads each message of a history once, however many nodes share its beginning', () => {
    const reads = (nodes: number) => {
      const { add, forest } = writtenForest()
      for (let index = 0; index < nodes; index++) add(`s:x u:a t:${index}`, 'a')
      let count = 0
      const messages = history(`s:x u:a t:${nodes}`).map(
        (message) =>
          new Proxy(message, {
            get: (target, name) => {
              if (name === 'role') count++
              return Reflect.get(target, name)
            },
          }),
      )
      attached(forest, { messages, context: CONTEXT })
      return count
    }
    expect(reads(500)).toBe(reads(5))
  })
})

test('The context of a call is the same only for the same rendered tools, template and options', () => {
  const tool = { name: 'f', description: 'd', inputSchema: { type: 'object' } }
  const context = promptContext([tool], 't', { a: 1 })
  expect(promptContext([{ ...tool, mock: { reply: { kind: 'canned', text: '' } } }], 't', { a: 1 })).toEqual(context)
  expect(promptContext([{ ...tool, name: 'g' }], 't', { a: 1 }).tools).not.toBe(context.tools)
  expect(promptContext([], 'u', { a: 1 }).template).not.toBe(context.template)
  expect(promptContext([], 't', {}).template).not.toBe(context.template)
})
