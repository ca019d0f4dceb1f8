/**
 * The replies that consist of calls, in the format of a parser, as a grammar: a server that generates within it is forced to call. Formats whose
 * calls depend on more than the reply itself have none.
 */
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import { SOLAR_OPEN2_TAGS } from '../keyed/solar-open2.ts'
import { type JsonType, jsonType, resolvePointer } from '../reading/argument-types.ts'
import { type KeyedTags, keyedTags } from '../reading/keyed-call.ts'
import { FUNCTION_GEMMA_QUOTE, GEMMA_QUOTE } from '../tags/gemma-value.ts'
import {
  choice,
  type GrammarExpression,
  listOf,
  noneOf,
  oneOf,
  optional,
  repeat,
  sequence,
  shared,
  text,
  textWithout,
} from './expression.ts'
import {
  type Alternative,
  alternativesOf,
  gemmaNotation,
  jsonNotation,
  membersOf,
  type Notation,
  PYTHON_NOTATION,
  separated,
  valueGrammar,
} from './json-schema.ts'

/** What must be called. */
export interface ForcedCalls {
  /** The tools that may be called. At least one. */
  readonly tools: readonly ToolSpec[]
  /** Whether a reply may have several calls. */
  readonly mayRepeat: boolean
  /** The chat template: some formats have variants. */
  readonly template: string
  /** The text that closes the think block in which the prompt ends. Undefined: it ends in none. */
  readonly closeThink: string | undefined
}

/** Returns the grammar of such replies; undefined if the format has none. Throws RangeError with a name that the format cannot write. */
export function forcedCalls(
  parser: string,
  { tools, mayRepeat, template, closeThink }: ForcedCalls,
): GrammarExpression | undefined {
  const format = FORMATS[parser]?.(template)
  if (!format) return undefined
  const { open = '', between, close = '', call } = format
  const one = shared(choice(tools.map(call)))
  const thought = closeThink === undefined ? [] : [textWithout([closeThink]), closeThink, repeat(text('\n'), 0, 2)]
  return sequence(...thought, open, mayRepeat ? listOf(one, between) : one, close)
}

/** How a format writes the calls of a reply. */
interface CallFormat {
  /** Text before the first call. Omitted: none. */
  readonly open?: string
  readonly between: string
  /** Text after the last call. Omitted: none. */
  readonly close?: string
  readonly call: (tool: ToolSpec) => GrammarExpression
}

const JSON_NOTATION = jsonNotation()
/** Values between tags: their texts contain no tag. */
const TAGGED_NOTATION = jsonNotation('<')
/** Values in XML. */
const XML_NOTATION = jsonNotation('<&')
const DIGITS = repeat(oneOf(['0', '9']), 1, 3)
const NEW_LINE = optional('\n')

const argumentsOf = ({ inputSchema }: ToolSpec, notation = JSON_NOTATION): GrammarExpression =>
  valueGrammar(inputSchema, notation).value({ type: 'object', ...inputSchema })

/** Returns a call as an object with a name and arguments. */
const objectCall =
  (name: string, values: string, before: readonly (GrammarExpression | string)[] = []): CallFormat['call'] =>
  (tool) =>
    sequence('{', ...before, `"${name}": ${JSON.stringify(tool.name)}, "${values}": `, argumentsOf(tool), '}')

/** Returns a call with its arguments as JSON after a head with the name. */
const headedCall =
  (head: (name: string) => GrammarExpression, end: string): CallFormat['call'] =>
  (tool) =>
    sequence(head(plainName(tool.name)), argumentsOf(tool), end)

/** Returns a name that needs no escape in any format. Throws RangeError for others. */
const plainName = (name: string): string => writableName(name, /^[\p{L}\p{N}_.:/-]+$/u)

/** Returns a name that is an identifier of Python. Throws RangeError for others. */
const identifier = (name: string): string => writableName(name, /^[\p{L}_][\p{L}\p{N}_]*$/u)

function writableName(name: string, pattern: RegExp): string {
  if (pattern.test(name)) return name
  throw new RangeError(`the name ${JSON.stringify(name)} cannot be written in its calls`)
}

interface TaggedFormat {
  /** Returns what precedes the value of an argument. */
  readonly open: (name: string, type: JsonType) => GrammarExpression | string
  /** What follows the value. */
  readonly close: GrammarExpression | string
  /** Any text as a value. */
  readonly anyText: GrammarExpression
  /** Notation of the other values. */
  readonly notation: Notation
}

/** Returns the arguments of a tool, each between tags: texts without quotes, and other values. */
function taggedArguments(
  { inputSchema }: ToolSpec,
  { open, close, anyText, notation }: TaggedFormat,
): GrammarExpression {
  const { valuesOf } = valueGrammar(inputSchema, notation)
  const typed = (one: Alternative, references: number): readonly TypedExpression[] => {
    switch (one.kind) {
      case 'reference':
        return references < MOST_REFERENCES
          ? alternativesOf(resolvePointer(one.pointer, inputSchema)).flatMap((next) => typed(next, references + 1))
          : [['string', anyText]]
      case 'constant':
        return [typeof one.value === 'string' ? ['string', text(one.value)] : [jsonType(one.value), valuesOf(one)]]
      case 'type':
        return [[one.type, one.type === 'string' ? anyText : valuesOf(one)]]
      case 'any':
        return [['string', anyText]]
    }
  }
  const members = membersOf(inputSchema).map(({ name, schema, isRequired }) => {
    const values = alternativesOf(schema).flatMap((one) => typed(one, 0))
    const options = values.map(([type, of]) => sequence(open(plainName(name), type), of, close))
    return isRequired ? choice(options) : optional(choice(options))
  })
  return sequence(...members)
}

type TypedExpression = readonly [type: JsonType, value: GrammarExpression]

/** References that follow each other without a schema between them. */
const MOST_REFERENCES = 8

const textOfXml = repeat(
  choice([noneOf('<&'), ...['lt', 'gt', 'amp', 'quot', 'apos'].map((name) => text(`&${name};`))]),
)

/** Returns a function in the XML of Qwen; `before` and `after` surround each value. */
const qwenFunction =
  (before: string, after: string): CallFormat['call'] =>
  (tool) =>
    sequence(
      `<function=${plainName(tool.name)}>\n`,
      taggedArguments(tool, {
        open: (name) => `<parameter=${name}>${before}`,
        close: `${after}</parameter>\n`,
        anyText: textWithout(['</parameter>', '<parameter=']),
        notation: TAGGED_NOTATION,
      }),
      '</function>',
    )

/** Returns a call in the XML of Qwen between tags with this name. */
const qwenXml =
  (tag: string, around = '\n'): CallFormat['call'] =>
  (tool) =>
    sequence(`<${tag}>\n`, qwenFunction(around, around)(tool), `\n</${tag}>`)

/** Returns a call with a name and pairs of tags. Versions of a model differ in their line breaks. */
const keyedCall =
  ({ call, key, value }: KeyedTags, separator: GrammarExpression | string = ''): CallFormat['call'] =>
  (tool) =>
    sequence(
      `${call[0]}${plainName(tool.name)}`,
      separator,
      NEW_LINE,
      taggedArguments(tool, {
        open: (name) => sequence(`${key[0]}${name}${key[1]}`, key[1] === '' ? '' : NEW_LINE, value[0]),
        close: sequence(value[1], NEW_LINE),
        anyText: textWithout([value[1], value[0]]),
        notation: TAGGED_NOTATION,
      }),
      call[1],
    )

/** Returns a call in tags whose names begin with this prefix; `typeOf` returns further attributes of an argument. */
const invokeCall =
  (prefix: string, typeOf: (type: JsonType) => string = () => ''): CallFormat['call'] =>
  (tool) =>
    sequence(
      `<${prefix}invoke name="${plainName(tool.name)}">\n`,
      taggedArguments(tool, {
        open: (name, type) => `<${prefix}parameter name="${name}"${typeOf(type)}>`,
        close: `</${prefix}parameter>\n`,
        anyText: textWithout([`</${prefix}parameter>`, `<${prefix}parameter`]),
        notation: TAGGED_NOTATION,
      }),
      `</${prefix}invoke>`,
    )

const xmlCall: CallFormat['call'] = (tool) =>
  sequence(
    `<function name="${plainName(tool.name)}">`,
    taggedArguments(tool, {
      open: (name) => `<param name="${name}">`,
      close: '</param>',
      anyText: textOfXml,
      notation: XML_NOTATION,
    }),
    '</function>',
  )

/** Returns calls on lines of their own in a block. */
const invokes = (block: string, call: CallFormat['call']) => (): CallFormat => ({
  open: `<${block}>\n`,
  between: '\n',
  close: `\n</${block}>`,
  call,
})

const dsml = (mark: string, block: string) =>
  invokes(
    mark + block,
    invokeCall(mark, (type) => ` string="${type === 'string'}"`),
  )

/** Returns calls of one object each, after and before these texts. */
const objectsBetween = (open: string, close: string, values: string) => (): CallFormat => ({
  between: '\n',
  call: (tool) => sequence(open, objectCall('name', values)(tool), close),
})

/** Returns calls as a list of objects, after and before these texts. */
const objectList = (open: string, close: string) => (): CallFormat => ({
  open: `${open}[`,
  between: ', ',
  close: `]${close}`,
  call: objectCall('name', 'arguments'),
})

const xtmlCall: CallFormat['call'] = (tool) =>
  sequence(
    `<|open|>call tool="${plainName(tool.name)}" index="`,
    DIGITS,
    '"<|sep|>',
    taggedArguments(tool, {
      open: (name, type) => `<|open|>argument key="${name}" type="${type === 'integer' ? 'number' : type}"<|sep|>`,
      close: '<|close|>argument<|sep|>',
      anyText: textWithout(['<|close|>argument', '<|open|>argument']),
      notation: TAGGED_NOTATION,
    }),
    '<|close|>call<|sep|>',
  )

/** Returns a call in Python. */
const pythonCall: CallFormat['call'] = ({ name, inputSchema }) => {
  const { value } = valueGrammar(inputSchema, PYTHON_NOTATION)
  const members = membersOf(inputSchema).map((member) => ({
    isRequired: member.isRequired,
    member: shared(sequence(`${identifier(member.name)}=`, value(member.schema))),
  }))
  return sequence(`${plainName(name)}(`, separated(members, text(', '), text('')), ')')
}

const gemmaCall =
  (open: string, quote: string, close: string): CallFormat['call'] =>
  (tool) => {
    for (const member of membersOf(tool.inputSchema)) identifier(member.name)
    return sequence(`${open}call:${plainName(tool.name)}`, argumentsOf(tool, gemmaNotation(quote)), close)
  }

const apertusCall: CallFormat['call'] = (tool) => sequence(`{${JSON.stringify(tool.name)}: `, argumentsOf(tool), '}')

const DEEPSEEK = { open: '<｜tool▁calls▁begin｜>', close: '<｜tool▁calls▁end｜>' } as const
const LETTER_OR_DIGIT = oneOf(['a', 'z'], ['0', '9'])

/** The formats by the names of their parsers. Each gets the chat template, and returns undefined for a variant that it does not know. */
const FORMATS: Readonly<Record<string, (template: string) => CallFormat | undefined>> = {
  hermes: objectsBetween('<tool_call>\n', '\n</tool_call>', 'arguments'),
  interns1: objectsBetween('<|action_start|><|plugin|>\n', '<|action_end|>', 'parameters'),
  qwen_xml: () => ({ between: '\n', call: qwenXml('tool_call') }),
  seed_oss: () => ({ between: '\n', call: qwenXml('seed:tool_call', '') }),
  glm: () => ({ between: '\n', call: keyedCall(keyedTags()) }),
  iquest_q1: () => ({ between: '\n', call: keyedCall(keyedTags({ tag: 'iquest_tool_call' })) }),
  k2_horizon: () => ({
    open: '<ifm|tool_calls>\n',
    between: '\n',
    close: '\n</ifm|tool_calls>',
    call: keyedCall(keyedTags({ prefix: 'ifm|' })),
  }),
  longcat: (template) =>
    template.includes('<longcat_arg_key>')
      ? { between: '\n', call: keyedCall(keyedTags({ prefix: 'longcat_' })) }
      : objectsBetween('<longcat_tool_call>\n', '\n</longcat_tool_call>', 'arguments')(),
  solar_open2: () => ({ between: '\n', call: keyedCall(SOLAR_OPEN2_TAGS) }),
  hunyuan: (template) => {
    const suffix = template.includes(':opensource') ? ':opensource' : ''
    return {
      open: `<tool_calls${suffix}>\n`,
      between: '\n',
      close: `\n</tool_calls${suffix}>`,
      call: keyedCall(keyedTags({ suffix }), optional(`<tool_sep${suffix}>`)),
    }
  },
  kimi_k2: () => ({
    open: '<|tool_calls_section_begin|>',
    between: '',
    close: '<|tool_calls_section_end|>',
    call: headedCall(
      (name) => sequence(`<|tool_call_begin|>functions.${name}:`, DIGITS, '<|tool_call_argument_begin|>'),
      '<|tool_call_end|>',
    ),
  }),
  llama3: () => ({ between: '; ', call: objectCall('name', 'parameters') }),
  mistral: (template) =>
    template.includes('[ARGS]')
      ? { between: '', call: headedCall((name) => text(`[TOOL_CALLS]${name}[ARGS]`), '') }
      : { open: '[TOOL_CALLS] [', between: ', ', close: ']', call: objectCall('name', 'arguments') },
  deepseek_v3: () => ({
    ...DEEPSEEK,
    between: '\n',
    call: headedCall(
      (name) => text(`<｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n\`\`\`json\n`),
      '\n```<｜tool▁call▁end｜>',
    ),
  }),
  deepseek_v31: () => ({
    ...DEEPSEEK,
    between: '',
    call: headedCall((name) => text(`<｜tool▁call▁begin｜>${name}<｜tool▁sep｜>`), '<｜tool▁call▁end｜>'),
  }),
  deepseek_v32: dsml('｜DSML｜', 'function_calls'),
  deepseek_v4: dsml('｜DSML｜', 'tool_calls'),
  deepseek_v41: dsml('｜DSML｜ ', 'calls'),
  gigachat35: dsml('｜GCML｜', 'tool_calls'),
  step3: () => ({
    open: '<｜tool_calls_begin｜>\n',
    between: '\n',
    close: '\n<｜tool_calls_end｜>',
    call: (tool) =>
      sequence('<｜tool_call_begin｜>function<｜tool_sep｜>', invokeCall('steptml:')(tool), '<｜tool_call_end｜>'),
  }),
  pythonic: () => ({ open: '[', between: ', ', close: ']', call: pythonCall }),
  lfm2: () => ({ open: '<|tool_call_start|>[', between: ', ', close: ']<|tool_call_end|>', call: pythonCall }),
  olmo3: () => ({ open: '<function_calls>', between: '\n', close: '</function_calls>', call: pythonCall }),
  gemma4: () => ({ between: '', call: gemmaCall('<|tool_call>', GEMMA_QUOTE, '<tool_call|>') }),
  functiongemma: () => ({
    between: '',
    call: gemmaCall('<start_function_call>', FUNCTION_GEMMA_QUOTE, '<end_function_call>'),
  }),
  'minimax-m2': invokes('minimax:tool_call', invokeCall('')),
  dots: invokes('dots_function_call', invokeCall('')),
  minicpm5: () => ({ between: '\n', call: xmlCall }),
  kimi_k3: () => ({
    open: '<|open|>tools<|sep|>',
    between: '',
    close: '<|close|>tools<|sep|>',
    call: xtmlCall,
  }),
  cohere_command4: () => ({
    open: '<|START_ACTION|>[\n    ',
    between: ',\n    ',
    close: '\n]<|END_ACTION|>',
    call: objectCall('tool_name', 'parameters', ['"tool_call_id": "', DIGITS, '", ']),
  }),
  command_r: () => ({
    open: 'Action:\n```json\n[\n',
    between: ',\n',
    close: '\n]```',
    call: objectCall('tool_name', 'parameters'),
  }),
  apertus2509: () => ({ open: '<|tools_prefix|>[', between: ', ', close: ']<|tools_suffix|>', call: apertusCall }),
  gigachat3: (template) =>
    template.includes('<|function_call|>')
      ? { between: '', call: (tool) => sequence('<|function_call|>', objectCall('name', 'arguments')(tool)) }
      : undefined,
  tool_calls: objectList('<tool_calls>', '</tool_calls>'),
  nemotron: objectList('<TOOLCALL>', '</TOOLCALL>'),
  granite: objectList('<|tool_call|>', ''),
  phi4_mini: objectList('functools', ''),
  functionary_v31: () => ({ between: '', call: headedCall((name) => text(`<function=${name}>`), '</function>') }),
  hunyuan_fenced: () => ({
    open: '<tool_calls>',
    between: '\n',
    close: '</tool_calls>',
    call: headedCall((name) => text(`<tool_call>${name}\n\`\`\`json\n`), '\n```</tool_call>'),
  }),
  step_audio: () => ({
    between: '',
    call: headedCall((name) => text(`<|CALL_START|>function\n${name}\n`), '<|CALL_END|>'),
  }),
  xlam: objectList('', ''),
  hyperclovax: objectList('-> tool/function_call\n', ''),
  zaya: () => ({ between: '\n', call: qwenXml('zyphra_tool_call') }),
  grug: objectsBetween('<|tool_call|>\n', '\n<|tool_call_end|>', 'arguments'),
  granite_20b_fc: objectsBetween('<function_call> ', '', 'arguments'),
  frogboss: () => ({ between: '\n', call: qwenFunction('', '') }),
  falcon3: objectList('<tool_call>\n', '\n</tool_call>'),
  minicpm3: () => ({
    open: '<|tool_call_start|>\n```python\n',
    between: '\n',
    close: '\n```\n<|tool_call_end|>',
    call: pythonCall,
  }),
  mimo: () => ({ between: '', call: qwenXml('tool_call', '') }),
  inkling: () => ({
    between: '',
    call: (tool) =>
      sequence(
        `<|message_model|>${plainName(tool.name)}<|content_invoke_tool_json|>`,
        objectCall('name', 'args')(tool),
        '<|end_message|>',
      ),
  }),
  plamo3: () => ({
    open: '<|plamo:begin_tool_requests:plamo|>',
    between: '',
    close: '<|plamo:end_tool_requests:plamo|>',
    call: headedCall(
      (name) =>
        text(
          `<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>${name}<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>`,
        ),
      '<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>',
    ),
  }),
  solar_open: () => ({
    open: '<|tool_calls|>',
    between: '',
    call: headedCall(
      (name) =>
        sequence('<|tool_call:begin|>', repeat(LETTER_OR_DIGIT, 10, 10), `<|tool_call:name|>${name}<|tool_call:args|>`),
      '<|tool_call:end|>',
    ),
  }),
}
