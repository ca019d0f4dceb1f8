/** Tests trajectories of every shape with the byte tokenizer and small templates. golden.test.ts tests real tokenizers and templates. */
import { describe, expect, test } from 'vitest'
import { parserNamed } from '#lib/parsers/registry.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import { decode, encode } from '#lib/trajectory/format/codec.ts'
import type { Finish, Message, PromptSegment, ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { ids as allIds, lossMask } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { byteId, byteTokenizer } from '#testing/byte-tokenizer.ts'
import { simulateRollout } from '#testing/simulated-rollout.ts'
import { chatml, headersOnly, looksBack } from '#testing/small-templates.ts'
import { buildSide } from '../compare/retokenized.ts'
import type { BuildResult, LoadedSide, ShownSide, SideTokenizer } from '../compare/shown-side.ts'
import type { Reconstruction } from '../compare/side.ts'

const END = byteId('<|im_end|>')
const stop: Finish = { kind: 'stop', matched: END }
const tokensOf = (text: string): number[] => byteTokenizer.encode(text)
const reply = (text: string): number[] => [...tokensOf(text), END]
const user = (content: string): Message => ({ role: 'user', content })

const bytes: SideTokenizer = { tokenizer: byteTokenizer, compile: (text) => chatTemplate(text, {}) }
const withOwn = (template: string): SideTokenizer => ({ ...bytes, template: () => chatTemplate(template, {}) })

function side(
  trajectory: TrajectoryView,
  as: Reconstruction = { kind: 'structured' },
  more: Partial<Pick<LoadedSide, 'tokenizer' | 'template'>> = {},
): BuildResult<ShownSide> {
  return buildSide({ trajectory, as, tokenizer: bytes, template: undefined, ...more })
}

function made(...parameters: Parameters<typeof side>): ShownSide {
  const found = side(...parameters)
  if (!found.ok) throw new Error(found.why)
  expect(decode(encode(found.value.trajectory as Trajectory))).toEqual({ ok: true, trajectory: found.value.trajectory })
  return found.value
}

/** Draws segments as `(prompt) [response]`. In a response with untrained tokens, a bar is before the trained ones. */
const picture = ({ trajectory }: ShownSide): string =>
  trajectory.segments
    .map(({ kind, ids, mask }) => {
      const text = (some: ArrayLike<number>) => textOf(some, trajectory.vocab)
      if (kind === 'prompt') return `(${text(ids)})`
      const untrained = Array.from(mask ?? []).lastIndexOf(0) + 1
      return untrained === 0
        ? `[${text(ids)}]`
        : `[${text(Array.from(ids).slice(0, untrained))}|${text(Array.from(ids).slice(untrained))}]`
    })
    .join(' ')
    .replaceAll('\n', '⏎')

const question = { messages: [user('Q')], reply: reply('A'), finish: stop }
const simple = simulateRollout(chatml, [question]).trajectory

describe('the messages side of a conversation', () => {
  test('has a response for each reply, and prompts between; the end of the turn is trained', () => {
    const { trajectory } = simulateRollout(chatml, [
      question,
      { messages: [user('R')], reply: reply('B'), finish: stop },
    ])
    const again = made(trajectory)
    expect(picture(again)).toBe(
      '(<|im_start|>user⏎Q<|im_end|>⏎<|im_start|>assistant⏎) [A<|im_end|>] ' +
        '(⏎<|im_start|>user⏎R<|im_end|>⏎<|im_start|>assistant⏎) [B<|im_end|>] (⏎)',
    )
    expect(again.trajectory.segments.map((one) => (one.kind === 'prompt' ? one.messages : 'reply'))).toEqual([
      [user('Q')],
      'reply',
      [user('R')],
      'reply',
      [],
    ])
    expect(again.caveats).toEqual([])
  })

  test('that ends with a prompt has the generation prompt', () => {
    const { segments, ...rest } = simulateRollout(chatml, [
      question,
      { messages: [user('R')], reply: [], finish: stop },
    ]).trajectory
    const again = made({ ...rest, segments: segments.slice(0, 3) })
    expect(picture(again)).toMatch(/\(⏎<\|im_start\|>user⏎R<\|im_end\|>⏎<\|im_start\|>assistant⏎\)$/)
    expect(allIds(again.trajectory)).toEqual(segments.slice(0, 3).flatMap(({ ids }) => ids))
  })

  test('keeps text that the prompt opens in the prompt, and gives a dropped reply an empty response', () => {
    const think = { messages: [user('Q')], reply: tokensOf('hm</think>A'), finish: { kind: 'length' } as const }
    expect(picture(made(simulateRollout(headersOnly, [think]).trajectory, { kind: 'raw' }))).toBe(
      '(<|user|>⏎Q<|assistant|>⏎) [hm</think>A]',
    )
    const mute = '{% for m in messages if m.role != "assistant" %}{{ m.content }};{% endfor %}'
    const again = made(simple, { kind: 'raw' }, { template: mute })
    expect(picture(again)).toBe('(Q;) []')
    expect(again.caveats).toEqual([expect.stringContaining('does not show which tokens are replies')])
  })

  test('with replies in the first prompt has them as context', () => {
    const shots: readonly Message[] = [user('1?'), { role: 'assistant', content: '1.' }, user('Q')]
    const again = made(simulateRollout(chatml, [{ ...question, messages: shots }]).trajectory)
    expect(again.trajectory.segments.map(({ kind }) => kind)).toEqual(['prompt', 'response', 'prompt'])
    expect(lossMask(again.trajectory).filter((bit) => bit === 1)).toHaveLength(2)
  })

  test('leaves out messages that the model never read', () => {
    const outcome = { kind: 'failed', code: 'X', message: 'x', unsent: [user('never')] } as const
    expect(picture(made({ ...simple, outcome }))).not.toContain('never')
  })

  test('uses another template, and another tokenizer’s own', () => {
    const other = '{% for m in messages %}{{ m.role[0] }}:{{ m.content }};{% endfor %}'
    const { template, tokenizer } = made(simple, { kind: 'raw' }, { template: other }).trajectory.model
    expect([template?.text, tokenizer?.endOfTurnId]).toEqual([other, undefined])
    const named = made(simple, { kind: 'raw', tokenizer: 'theirs' }, { tokenizer: withOwn(other) })
    expect(textOf(allIds(named.trajectory), named.trajectory.vocab)).toBe('u:Q;a:A;')
    expect(named.caveats).toEqual([])
    // This tokenizer has no template of its own.
    const lacking = made(simple, { kind: 'raw', tokenizer: 'theirs' })
    expect(lacking.caveats).toEqual([expect.stringContaining('has no chat template: the recorded one is used')])
  })
})

describe('the messages side has thinking and calls', () => {
  const tools: readonly ToolSpec[] = [
    { name: 'f', inputSchema: { type: 'object', properties: { x: { type: 'number' } } } },
  ]
  /** A template that prints every member of a message as JSON, with the keys in their order. */
  const telling = `{%- for m in messages -%}{{- '<|im_start|>' + m.role + '\n' -}}{{- m.reasoning_content | tojson if m.reasoning_content is defined -}}{{- m.content -}}{{- (m.tool_calls | tojson) if m.tool_calls -}}{{- '#' + m.tool_call_id if m.tool_call_id is defined -}}{{- '<|im_end|>\n' -}}{%- endfor -%}{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\n' -}}{%- endif -%}`
  const said = (text: string, settings: { readonly parser?: string; readonly results?: number } = {}) => {
    const parser = parserNamed(settings.parser ?? 'hermes')
    if (!parser) throw new Error('no such parser')
    const results = Array.from(
      { length: settings.results ?? 0 },
      (_, index): Message => ({
        role: 'tool',
        callId: `call_${String(index).padStart(4, '0')}`,
        content: 'R',
      }),
    )
    return simulateRollout(
      telling,
      [
        { messages: [user('Q')], reply: reply(text), finish: stop },
        ...(results.length > 0 ? [{ messages: results, reply: reply('B'), finish: stop }] : []),
      ],
      { tools, parser },
    ).trajectory
  }
  const first = (shown: ShownSide): string => textOf(shown.trajectory.segments[1]?.ids ?? [], shown.trajectory.vocab)

  test('structured: separate from the content, with every digit and the order of keys', () => {
    const call =
      '<tool_call>{"name": "f", "arguments": {"x": 1.0, "b": 12345678901234567890, "10": 1e3, "9": -0.0}}</tool_call>'
    expect(first(made(said(`<think>\nwell\n</think>\n\n Hi. ${call}`)))).toBe(
      '"well"Hi.[{"id": "call_0000", "type": "function", "function": {"name": "f", "arguments": {"x": 1.0, "b": 12345678901234567890, "10": 1000.0, "9": -0.0}}}]<|im_end|>',
    )
  })

  test('raw: all inside the content', () => {
    const text = '<think>\nwell\n</think>\n\n Hi. <tool_call>{"name": "f", "arguments": {"x": 1.0}}</tool_call>'
    const shown = made(said(text, { results: 1 }), { kind: 'raw' })
    expect(first(shown)).toBe(`${text}<|im_end|>`)
    // The parser finds the calls again, and they keep their ids.
    expect(shown.trajectory.segments[1]).toMatchObject({
      thinks: [{ start: 0 }],
      toolCalls: [{ id: 'call_0000', kind: 'parsed' }],
    })
  })

  test('as text if a call is malformed', () => {
    const text = '<tool_call>{"name": "f", "arguments": {"x": 1,}}</tool_call>'
    expect(first(made(said(text)))).toBe(`${text}<|im_end|>`)
  })

  test('with the digits of values that JSON cannot spell, and without the delimiters of a run of calls', () => {
    const xml = '<tool_call>\n<function=f>\n<parameter=x>\n1.0\n</parameter>\n</function>\n</tool_call>'
    expect(first(made(said(xml, { parser: 'qwen_xml' })))).toContain('"arguments": {"x": 1.0}')
    const kimi =
      'Hi.<|tool_calls_section_begin|><|tool_call_begin|>functions.f:7<|tool_call_argument_begin|>{"x": 2.0}<|tool_call_end|><|tool_calls_section_end|>'
    const shown = made(said(kimi, { parser: 'kimi_k2', results: 1 }))
    expect(first(shown)).toBe(
      'Hi.[{"id": "functions.f:7", "type": "function", "function": {"name": "f", "arguments": {"x": 2.0}}}]<|im_end|>',
    )
    // The result has the call id that the model wrote.
    expect(picture(shown)).toContain('tool⏎R#functions.f:7')
  })

  test.each([
    ['llama3', 'Hi.<|python_tag|>{"name": "f", "parameters": {"x": 2.0}}', ''],
    ['mistral', 'Hi.[TOOL_CALLS] [{"name": "f", "arguments": {"x": 2.0}}]', ''],
    ['mistral', 'Hi.[TOOL_CALLS]f[ARGS]{"x": 2.0}', ''],
    [
      'deepseek_v3',
      'Hi.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{"x": 2.0}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
      '',
    ],
    [
      'deepseek_v31',
      '<think>well</think>Hi.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{"x": 2.0}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
      '"well"',
    ],
    [
      'deepseek_v32',
      'Hi.<｜DSML｜function_calls><｜DSML｜invoke name="f"><｜DSML｜parameter name="x" string="false">2.0</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>',
      '',
    ],
    [
      'gpt-oss',
      '<|channel|>commentary<|message|>Hi.<|end|><|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"x": 2.0}<|call|>',
      '',
    ],
    ['pythonic', 'Hi.\n[f(x=2.0)]', ''],
    [
      'minimax-m2',
      'Hi.<minimax:tool_call>\n<invoke name="f">\n<parameter name="x">2.0</parameter>\n</invoke>\n</minimax:tool_call>',
      '',
    ],
    [
      'deepseek_v4',
      'Hi.<｜DSML｜tool_calls><｜DSML｜invoke name="f"><｜DSML｜parameter name="x" string="false">2.0</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜tool_calls>',
      '',
    ],
    [
      'kimi_k3',
      '<|open|>response<|sep|>Hi.<|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool="f" index="1"<|sep|><|open|>argument key="x" type="number"<|sep|>2.0<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>',
      '',
    ],
    ['lfm2', 'Hi.<|tool_call_start|>[f(x=2.0)]<|tool_call_end|>', ''],
    [
      'cohere_command4',
      'Hi.<|START_ACTION|>[\n    {"tool_call_id": "call_0000", "tool_name": "f", "parameters": {"x": 2.0}}\n]<|END_ACTION|>',
      '',
    ],
    ['apertus2509', 'Hi.<|tools_prefix|>[{"f": {"x": 2.0}}]<|tools_suffix|>', ''],
    [
      'muse',
      'Hi.<|start|>assistant to=f<|message|><atem:function_calls>\n<atem:invoke name="f">\n<atem:parameter name="x">2.0</atem:parameter>\n</atem:invoke>\n</atem:function_calls>',
      '',
    ],
    ['gigachat3', 'Hi.<|function_call|>{"name": "f", "arguments": {"x": 2.0}}', ''],
    ['gigachat3', 'Hi.<|message_sep|>\n\nfunction call<|role_sep|>\n{"name": "f", "arguments": {"x": 2.0}}', ''],
    [
      'hunyuan',
      'Hi.<tool_calls:opensource>\n<tool_call:opensource>f<tool_sep:opensource>\n<arg_key:opensource>x</arg_key:opensource>\n<arg_value:opensource>2.0</arg_value:opensource>\n</tool_call:opensource>\n</tool_calls:opensource>',
      '',
    ],
    [
      'minimax-m3',
      'Hi.]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="f">]<]minimax[>[<x>2.0]<]minimax[>[</x>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
      '',
    ],
    ['seed_oss', 'Hi.<seed:tool_call>\n<function=f>\n<parameter=x>2.0</parameter>\n</function>\n</seed:tool_call>', ''],
    ['tool_calls', 'Hi.<tool_calls>\n{"name": "f", "arguments": {"x": 2.0}}\n</tool_calls>', ''],
    ['tool_calls', 'Hi.<tool_calls>[{"name": "f", "arguments": {"x": 2.0}}]</tool_calls>', ''],
    ['nemotron', '<think>well</think>Hi.<TOOLCALL>[{"name": "f", "arguments": {"x": 2.0}}]</TOOLCALL>', '"well"'],
    [
      'command_r',
      'Hi.Action:\n```json\n[\n    {\n        "tool_name": "f",\n        "parameters": {"x": 2.0}\n    }\n]```',
      '',
    ],
    ['functionary_v31', 'Hi.<function=f>{"x": 2.0}</function>', ''],
    ['functionary_v32', 'all\nHi.>>>f\n{"x": 2.0}', ''],
    [
      'solar_open',
      '<|content|>Hi.<|end|><|begin|>assistant<|tool_calls|><|tool_call:begin|>call_0000<|tool_call:name|>f<|tool_call:args|>{"x": 2.0}<|tool_call:end|><|calls|>',
      '',
    ],
    [
      'deepseek_v41',
      'Hi.<｜DSML｜ calls><｜DSML｜ invoke name="f"><｜DSML｜ parameter name="x" string="false">2.0</｜DSML｜ parameter></｜DSML｜ invoke></｜DSML｜ calls>',
      '',
    ],
    [
      'gigachat35',
      'Hi.<｜GCML｜tool_calls><｜GCML｜invoke name="f"><｜GCML｜parameter name="x" string="false">2.0</｜GCML｜parameter></｜GCML｜invoke></｜GCML｜tool_calls><|message_sep|>',
      '',
    ],
    [
      'step3',
      'Hi.<｜tool_calls_begin｜>\n<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="f">\n<steptml:parameter name="x">2.0</steptml:parameter>\n</steptml:invoke><｜tool_call_end｜>\n<｜tool_calls_end｜>',
      '',
    ],
    [
      'dots',
      'Hi.<dots_function_call>\n<invoke name="f">\n<parameter name="x">2.0</parameter>\n</invoke>\n</dots_function_call>',
      '',
    ],
    ['iquest_q1', 'Hi.<iquest_tool_call>f<arg_key>x</arg_key><arg_value>2.0</arg_value></iquest_tool_call>', ''],
    [
      'k2_horizon',
      'Hi.<ifm|tool_calls><ifm|tool_call>f<ifm|arg_key>x</ifm|arg_key><ifm|arg_value>2.0</ifm|arg_value></ifm|tool_call></ifm|tool_calls>',
      '',
    ],
    ['interns1', 'Hi.<|action_start|> <|plugin|>\n{"name": "f", "parameters": {"x": 2.0}}<|action_end|>', ''],
    ['functiongemma', 'Hi.<start_function_call>call:f{x:2.0}<end_function_call>', ''],
    ['granite', 'Hi.<|tool_call|>[{"name": "f", "arguments": {"x": 2.0}}]', ''],
    ['granite', 'Hi.<|tool_call|>[{"name": "f", "arguments": {"x": 2.0}}]<|/tool_call|>', ''],
    ['phi4_mini', 'Hi.functools[{"name": "f", "arguments": {"x": 2.0}}]', ''],
    ['longcat', 'Hi.<longcat_tool_call>\n{"name": "f", "arguments": {"x": 2.0}}\n</longcat_tool_call>', ''],
    [
      'solar_open2',
      'Hi.<|tool_call:start|>f\n<|tool_arg:start|>x<|tool_arg:value|>2.0<|tool_arg:end|>\n<|tool_call:end|>',
      '',
    ],
    ['hunyuan_fenced', 'Hi.<tool_calls><tool_call>f\n```json\n{"x": 2.0}\n```</tool_call></tool_calls>', ''],
    ['step_audio', 'Hi.<|CALL_START|>function\nf\n{"x": 2.0}<|CALL_END|>', ''],
    ['xlam', 'Hi.[{"name": "f", "arguments": {"x": 2.0}}]', ''],
    ['hyperclovax', 'Hi. -> tool/function_call\n[{"name": "f", "arguments": {"x": 2.0}}]', ''],
    [
      'zaya',
      'Hi.<zyphra_tool_call>\n<function=f>\n<parameter=x>\n2.0\n</parameter>\n</function>\n</zyphra_tool_call>',
      '',
    ],
    ['grug', 'Hi.<|tool_call|>\n{"name": "f", "arguments": {"x": 2.0}}\n<|tool_call_end|>', ''],
    ['granite_20b_fc', 'Hi.<function_call> {"name": "f", "arguments": {"x": 2.0}}', ''],
    ['frogboss', 'Hi.<function=f>\n  <parameter=x>2.0</parameter>\n</function>', ''],
    ['falcon3', 'Hi.<tool_call>\n[{"name": "f", "arguments": {"x": 2.0}}]\n</tool_call>', ''],
    ['minicpm3', 'Hi.<|tool_call_start|>\n```python\nf(x=2.0)\n```\n<|tool_call_end|>', ''],
    ['mimo', 'Hi.<tool_call>\n<function=f>\n<parameter=x>2.0</parameter>\n</function>\n</tool_call>', ''],
    [
      'inkling',
      '<|content_text|>Hi.<|end_message|><|message_model|>f<|content_invoke_tool_json|>{"name": "f", "args": {"x": 2.0}}<|end_message|>',
      '',
    ],
    [
      'plamo3',
      'Hi.<|plamo:begin_tool_requests:plamo|><|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>f<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>{"x": 2.0}<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|><|plamo:end_tool_requests:plamo|>',
      '',
    ],
    ['olmo3', 'Hi.<function_calls>f(x=2.0)</function_calls>', ''],
    ['minicpm5', '<think>well</think>Hi.<function name="f"><param name="x">2.0</param></function>', '"well"'],
    ['gemma4', '<think>well</think>Hi.<|tool_call>call:f{x:2.0}<tool_call|>', '"well"'],
  ])('of %s without the text around calls, and with all digits', (parser, text, thought) => {
    expect(first(made(said(text, { parser })))).toBe(
      `${thought}Hi.[{"id": "call_0000", "type": "function", "function": {"name": "f", "arguments": {"x": 2.0}}}]<|im_end|>`,
    )
  })

  test('without the text that gpt-oss writes around a message', () => {
    expect(first(made(said('<|channel|>final<|message|>Hi.', { parser: 'gpt-oss' })))).toBe('Hi.<|im_end|>')
    const list = '[f(1), f(2)]'
    expect(first(made(said(list, { parser: 'pythonic' })))).toBe(`${list}<|im_end|>`)
  })

  test('with new ids for calls that are not found again, or differ', () => {
    const dropping =
      "{%- for m in messages -%}{{- '<|im_start|>' + m.role + '\\n' + m.content -}}{{- '<tool_call>{\"name\": \"g\", \"arguments\": {}}</tool_call>' * 2 if m.tool_calls -}}{{- '<|im_end|>\\n' -}}{%- endfor -%}"
    const { trajectory } = made(said('<tool_call>{"name": "f", "arguments": {}}</tool_call>'), undefined, {
      template: dropping,
    })
    expect(trajectory.segments[1]).toMatchObject({ toolCalls: [{ id: 'call_0000-again' }, { id: 'call_0001-again' }] })
  })

  test('as text if no parser is recorded, with a caveat', () => {
    const trajectory = said('<tool_call>{"name": "f", "arguments": {}}</tool_call>')
    const { parser: _, ...model } = trajectory.model
    const bare = {
      ...trajectory,
      model,
      segments: trajectory.segments.map((one) => (one.kind === 'response' ? { ...one, toolCalls: [] } : one)),
    }
    const shown = made(bare)
    expect(shown.caveats).toEqual([expect.stringContaining('No tool-call parser is recorded')])
    expect(shown.trajectory.segments[1]).toMatchObject({ toolCalls: [] })
    expect(made(bare, { kind: 'raw' }).caveats).toEqual([])
  })
})

describe('the messages side of an unusual trajectory', () => {
  const [prompt, response] = simple.segments as [PromptSegment, ResponseSegment]

  test('in progress has what has arrived, and the calls of the open response', () => {
    const text = '<tool_call>{"name": "f", "arguments": {"x": 1.0}}</tool_call>'
    const open: ResponseSegment = { kind: 'response', ids: tokensOf(text), thinks: [], toolCalls: [] }
    const running: TrajectoryView = {
      ...simple,
      segments: [prompt],
      outcome: { kind: 'running' },
      live: { runningTools: {}, open },
    } as unknown as TrajectoryView
    const shown = made(running, { kind: 'raw' })
    expect(shown.trajectory.segments[1]).toMatchObject({ toolCalls: [{ kind: 'parsed', name: 'f' }] })
    expect(shown.trajectory.outcome).toEqual({ kind: 'ended', reason: 'unknown' })
    expect(shown.caveats).toEqual([expect.stringContaining('has not ended')])
    expect(made(running, { kind: 'text' }).trajectory.segments).toHaveLength(2)
    const asked = { ...running, segments: [], live: { runningTools: {}, open: prompt } } as unknown as TrajectoryView
    expect(picture(made(asked))).toBe('(<|im_start|>user⏎Q<|im_end|>⏎<|im_start|>assistant⏎)')
  })

  test('joins two responses in a row to one reply with the calls of both', () => {
    const cut: ResponseSegment = { ...response, ids: tokensOf('A <think>h'), thinks: [], finish: { kind: 'length' } }
    const text = 'm</think><tool_call>{"name": "f", "arguments": {}}</tool_call> B'
    const start = text.indexOf('<tool_call>')
    const range = { start, end: text.length - 2 }
    const rest: ResponseSegment = {
      ...response,
      ids: reply(text),
      toolCalls: [
        {
          kind: 'parsed',
          id: 'c',
          name: 'f',
          input: {},
          arguments: [],
          raw: '{"name": "f", "arguments": {}}',
          span: { start: 2, end: 9 },
          text: range,
        },
        {
          kind: 'malformed',
          id: 'd',
          why: '',
          at: 0,
          raw: '',
          span: { start: 9, end: 9 },
          text: { start: range.end, end: range.end },
        },
      ],
    }
    const two = { ...simple, vocab: { ...simple.vocab, ...vocab(cut, rest) }, segments: [prompt, cut, rest] }
    expect(picture(made(two, { kind: 'raw' }))).toContain(`[A <think>h${text}<|im_end|>]`)
    expect(picture(made(two))).toContain('[A <think>hm</think> B<|im_end|>]')
  })

  test('does not train the given beginning of a reply', () => {
    const given: PromptSegment = {
      kind: 'prompt',
      ids: tokensOf('Well, '),
      messages: [],
      derivation: { kind: 'given' },
    }
    const forced = { ...simple, vocab: { ...simple.vocab, ...vocab(given) }, segments: [prompt, given, response] }
    expect(picture(made(forced))).toContain('[Well, |A<|im_end|>]')
    const shouting = chatml.replace("'\\n' + m.content", "'\\n' + m.content | upper")
    const lost = made(forced, { kind: 'raw' }, { template: shouting })
    expect(picture(lost)).toContain('[WELL, A<|im_end|>]')
    expect(lost.caveats).toEqual([expect.stringContaining('it counts as trained')])
    expect(side({ ...forced, segments: [prompt, given] })).toMatchObject({
      ok: false,
      why: expect.stringContaining('given as text'),
    })
  })

  test('splits two replies at glue of the template', () => {
    const glue: PromptSegment = { kind: 'prompt', ids: tokensOf('\n<|im_start|>assistant\n'), messages: [] }
    const twice = { ...simple, segments: [prompt, response, glue, response] }
    expect(picture(made(twice))).toMatch(/\[A<\|im_end\|>\] \(⏎<\|im_start\|>assistant⏎\) \[A<\|im_end\|>\] \(⏎\)$/)
  })

  test.each([
    ['no messages at all', [{ ...prompt, messages: [] }, response], /ids, but not the messages/],
    ['a first prompt given as text', [{ ...prompt, messages: [] }, response, prompt, response], /given as text or ids/],
  ] as const)('%s: refused, with a hint', (_, segments, why) => {
    expect(side({ ...simple, segments })).toMatchObject({
      ok: false,
      why: expect.stringMatching(why),
      hint: expect.stringContaining('text'),
    })
  })

  test('passes images to the template, with a caveat on the tokens of a processor', () => {
    const parts: Message = { role: 'user', content: [{ type: 'text', text: 'Look' }, { type: 'image' }] }
    const template =
      "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}{{ p.text if p.type == 'text' else '<image>' }}{% endfor %}{% endif %};{% endfor %}"
    const shown = made({ ...simple, segments: [{ ...prompt, messages: [parts] }, response] }, undefined, { template })
    expect(picture(shown)).toBe('(Look<image>;) [A;]')
    expect(shown.caveats).toEqual([expect.stringContaining('parts that are not text (image)')])
  })

  test('without a named tokenizer finds texts and calls with the chosen one', () => {
    const { tokenizer: _, parser: __, ...model } = simple.model
    const bare = { ...simple, vocab: {}, model }
    expect(picture(made(bare, { kind: 'structured', tokenizer: 'bytes' }, { template: chatml }))).toContain(
      '[A<|im_end|>]',
    )
    expect(side(bare, { kind: 'text' }, { tokenizer: undefined })).toMatchObject({
      ok: false,
      hint: expect.any(String),
    })
    expect(side(bare, { kind: 'raw' }, { tokenizer: undefined })).toMatchObject({ ok: false })
  })
})

describe('the template of the messages side', () => {
  const { template: _, ...untold } = simple.model

  test('is the tokenizer’s own if none is recorded, with a caveat; without both there is no side', () => {
    const bare = { ...simple, model: untold }
    expect(made(bare, undefined, { tokenizer: withOwn(chatml) }).caveats).toEqual([
      expect.stringContaining('No chat template is recorded'),
    ])
    expect(side(bare)).toMatchObject({
      ok: false,
      why: expect.stringContaining('no chat template'),
      hint: expect.stringContaining('Choose'),
    })
    const theirs = { ...simple, model: { ...untold, template: { source: 'server' as const, text: '', options: {} } } }
    expect(made(theirs, undefined, { tokenizer: withOwn(chatml) }).caveats).toEqual([
      expect.stringContaining('The server rendered with its own'),
    ])
  })

  test('that refuses the conversation, or does not compile, is reported in Python’s words', () => {
    expect(
      side(
        {
          ...simple,
          segments: [...simple.segments, ...simulateRollout(looksBack, [question]).trajectory.segments.slice(1)],
        },
        { kind: 'raw' },
        { template: '\n{{ messages[9].role.x }}' },
      ),
    ).toMatchObject({
      ok: false,
      why: expect.stringMatching(
        /^The chat template refuses the conversation: UndefinedError: .* \(line 2 of the template\)\.$/,
      ),
      hint: expect.stringContaining('would fail here too'),
    })
    expect(side(simple, undefined, { template: '{% if %}' })).toMatchObject({
      ok: false,
      why: expect.stringContaining('TemplateSyntaxError'),
    })
    const broken = { ...bytes, template: () => chatTemplate('{% if %}', {}) }
    expect(side({ ...simple, model: untold }, undefined, { tokenizer: broken })).toMatchObject({
      ok: false,
      why: expect.stringContaining('TemplateSyntaxError'),
    })
    const odd = { ...simple, model: { ...untold, template: { text: chatml, options: { messages: [] } } } }
    expect(side(odd)).toMatchObject({ ok: false, why: expect.stringContaining('The recorded options cannot be read') })
  })

  test('that writes the time gets that of the trajectory, with a caveat', () => {
    const dated = `{{ strftime_now('%Y-%m-%d') }}${chatml}`
    const shown = made({ ...simple, createdAt: '2026-07-04T15:00:00' }, undefined, { template: dated })
    expect(picture(shown)).toMatch(/^\(2026-07-04</)
    expect(shown.caveats).toEqual([expect.stringContaining('2026-07-04T15:00:00')])
    expect(made({ ...simple, createdAt: 'once' }, undefined, { template: dated }).caveats).toEqual([
      expect.stringContaining('a time in 1970'),
    ])
  })
})

describe('the messages side has a caveat if', () => {
  test('the tokenizer of the run was the server’s', () => {
    const tokenizer = { name: 'theirs', source: 'server' as const, specialIds: [END] }
    const shown = made(
      { ...simple, model: { ...simple.model, tokenizer } },
      { kind: 'raw', tokenizer: 'bytes' },
      { template: chatml },
    )
    expect(shown.caveats).toEqual([expect.stringContaining('server itself was the tokenizer')])
  })

  test('a file’s reader may have changed numbers and keys, but not for Rollscope’s own runs', () => {
    const given: Message = {
      role: 'assistant',
      content: '',
      toolCalls: [{ name: 'f', input: { a: [2 ** 60] } }],
    }
    const messages = [user('1?'), given, user('Q')]
    const own = { ...simple, segments: [{ ...simple.segments[0], messages }, simple.segments[1]] } as Trajectory
    const imported = { ...own, provenance: { kind: 'import', format: 'x', lacked: [] } as const }
    expect(made(own).caveats).toEqual([])
    expect(made(imported).caveats).toEqual([expect.stringContaining('very large integers')])
    const exact = { ...given, toolCalls: [{ name: 'f', input: { a: [2 ** 60] }, json: `{"a": [${2n ** 60n}]}` }] }
    const kept = [user('1?'), exact, user('Q')]
    expect(
      made({ ...imported, segments: [{ ...simple.segments[0], messages: kept }, simple.segments[1]] } as Trajectory)
        .caveats,
    ).toEqual([])
    const keyed = {
      ...simple,
      model: { ...simple.model, tools: [{ name: 'f', inputSchema: { b: 1, '9': { c: 'x' } } }] },
    }
    expect(made({ ...keyed, provenance: imported.provenance }).caveats).toHaveLength(1)
    expect(made({ ...simple, provenance: imported.provenance }).caveats).toEqual([])
  })
})

function vocab(...segments: readonly { readonly ids: readonly number[] }[]): Trajectory['vocab'] {
  return Object.fromEntries(
    segments.flatMap(({ ids }) =>
      ids.map((id) => [id, textOf([id], { [id]: new TextDecoder().decode(byteTokenizer.bytes(id)) })]),
    ),
  )
}
